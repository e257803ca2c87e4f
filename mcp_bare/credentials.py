"""Does a question ask for a secret? "your API key" does, "a name for your API key" does not.

A server must not ask for passwords, keys, tokens or payment credentials in a form, and a client
that draws one has helped it. This module knows the usual words. It does not understand language:
a server that wants to hide its purpose finds other words, so a person must still read the form.

Spec: client/elicitation, "Form Mode Security".
"""

from __future__ import annotations

import re
import unicodedata

_SECRETS = (
    r"pass ?words?|passwd|pwd|pass ?phrases?|pass ?codes?",
    r"(?:api|access|private|secret|ssh|signing|encryption|master|account|storage) keys?|apikeys?",
    r"(?:client|app|application|shared|webhook|signing) secrets?|secret (?:token|code|phrase)s?",
    r"(?:access|api|auth(?:entication|orization)?|bearer|refresh|session|security|oauth) tokens?",
    r"(?:personal|bot|git ?hub|git ?lab|slack) (?:access )?tokens?|credentials?",
    r"pin (?:code|number)s?|one time (?:code|pin)s?|t?otp",
    r"(?:2fa|mfa|two factor|authenticator|verification|recovery|backup) codes?",
    r"(?:seed|recovery) phrase|mnemonic",
    r"(?:credit|debit|payment|bank) cards?|card (?:number|no)|cv[vc]2?|card security code",
    r"parol[aăe]|contraseña|mot de passe|passwort|kennwort",
)
_SECRET = f"(?:{'|'.join(_SECRETS)})"
# What is said *about* a secret may be asked: "API key name", "password policy".
_ABOUT = r"(?! (?:name|label|alias|nickname|id|ids|hint|type|kind|policy|length|expiry|owner)\b)"
_CREDENTIAL = re.compile(rf"\b{_SECRET}\b{_ABOUT}")
# As a field's whole name these mean the secret itself; inside a sentence they mean anything.
_BARE = re.compile(r"(?:(?:your|my|the|user|login) )?(?:pin|token|secret|bearer)|[\w ]+ secret")
_DENIED = re.compile(
    r"\b(?:never|not|no|without|(?:do not|don't|never) (?:enter|type|paste|send|share|give|use))"
    rf" (?:(?:your|a|an|any|the) )?{_SECRET}\b"
)
_DEMAND = re.compile(
    r"\b(?:enter|paste|type|provide|give|send|share|input|supply|need|want|confirm|what is|what's)"
    rf"(?: me| us)?(?: (?:in|your|the|an?|my))*(?: \w+){{0,2}} {_SECRET}\b{_ABOUT}"
)
_OPENING = re.compile(
    rf"(?:(?:your|the|an?|my) )?(?:(?!of|for|to|with)\w+ ){{0,2}}{_SECRET}\b{_ABOUT}"
)


def is_named(label: str) -> bool:
    """Is this the name or title of a secret? is_named("apiKey") -> True"""
    words = _plain(label)
    return bool(_CREDENTIAL.search(words) or _BARE.fullmatch(words))


def is_described(text: str) -> bool:
    """Does a field's description say that the field is a secret? "Your API key, from ..." does."""
    words = _plain(text)
    return (bool(_OPENING.match(words)) and not _DENIED.match(words)) or is_demanded(text)


def is_demanded(message: str) -> bool:
    """Does a message ask the person to hand a secret over? "Paste your API key." does."""
    return bool(_DEMAND.search(_DENIED.sub(" ", _plain(message))))


def _plain(text: str) -> str:
    """Lower-case words: camelCase and snake_case cut apart, what cannot be seen left out."""
    seen = unicodedata.normalize("NFKC", text)
    seen = "".join(letter for letter in seen if unicodedata.category(letter) != "Cf")
    seen = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", seen)
    return " ".join(re.sub(r"[^\w']+", " ", seen.replace("_", " ")).lower().split())
