"""How a question looks, as HTML; whatever a server wrote is escaped and kept apart.

Colours come from JupyterLab's theme, with fallbacks that can be read where there is none. A
server's text never becomes a link, a style or a script, cannot turn the text around it, and hides
no letter. The one link there is goes to an address that was looked at (`whole_address`).

Does not handle: widgets (`drawing`), and the same without HTML (`form_text`).
"""

from html import escape
from typing import TYPE_CHECKING

from mcp_bare.addresses import Address
from mcp_bare.elicitation import Field
from mcp_bare.errors import TransportClosed
from mcp_bare.tape import compact
from workbench.form_text import gist, hint, readable, reason

if TYPE_CHECKING:
    from workbench.forms import Asking
    from workbench.questions import Question

NAME = 60
KEPT = "The answer is kept: send_again(client) sends it through another connection."

STYLE = """<style>
.mcp-ask { max-width: 44em; }
.mcp-question { border: 1px solid var(--jp-border-color1, #bdbdbd); border-left: 4px solid #2a6fb0;
  border-radius: 3px; padding: 10px 14px 12px; margin: 4px 0; }
.mcp-question.mcp-locked { border-left-color: #8a8a8a; }
.mcp-question.mcp-refused { border-left-color: #c0392b; }
.mcp-ask .widget-html, .mcp-ask .widget-html-content { height: auto; line-height: 1.4;
  font-size: var(--jp-content-font-size1, 14px); color: var(--jp-content-font-color1, inherit);
  overflow-wrap: anywhere; white-space: normal; }
.mcp-ask .mcp-quiet { color: var(--jp-content-font-color2, #616161); font-size: 0.9em; }
.mcp-ask .mcp-said { white-space: pre-wrap; unicode-bidi: isolate; max-height: 16em;
  overflow: auto; }
.mcp-ask .mcp-label { margin-top: 8px; }
.mcp-ask .mcp-wrong { color: var(--jp-error-color1, #c0392b); font-weight: 600; }
.mcp-ask .mcp-warn { border-left: 4px solid #94660a; padding: 2px 10px; margin: 6px 0; }
.mcp-ask .mcp-ending { padding: 0 18px 4px; }
.mcp-ask .mcp-url { font-family: var(--jp-code-font-family, monospace); font-size: 0.95em;
  word-break: break-all; padding: 6px 10px; margin: 6px 0;
  border: 1px solid var(--jp-border-color2, #ddd); }
.mcp-ask .mcp-url b { font-size: 1.2em; background: rgba(42, 111, 176, 0.22); padding: 0 3px; }
.mcp-ask a.mcp-open { display: inline-block; padding: 5px 14px; margin: 4px 0; border-radius: 2px;
  background: #2a6fb0; color: #fff; text-decoration: none; font-weight: 600; }
.mcp-ask code { font-size: 0.9em; background: none; color: inherit; padding: 0; }
.mcp-ask .widget-checkbox { height: 22px; margin: 0 2px; }
.mcp-ask .widget-checkbox, .mcp-ask .widget-checkbox label { width: auto; }
.mcp-ask .widget-button { margin-top: 10px; }
.mcp-ask .widget-toggle-button { margin-top: 2px; }
.mcp-ask .widget-toggle-button.mod-active { background: #2a6fb0; color: #fff; }
.mcp-ask .widget-dropdown > select { appearance: auto; background-image: none; }
.mcp-ask input:disabled, .mcp-ask select:disabled, .mcp-ask textarea:disabled { opacity: 0.75; }
</style>"""


def said(text: object) -> str:
    """The same as HTML, unable to turn what is around it."""
    return f"<bdi>{escape(readable(text))}</bdi>"


# --- a question ---


def heading(question: "Question") -> str:
    """Who asks, by the host's name for the server, and what it says that it wants."""
    claim = question.claim
    stated = claim[:NAME] if isinstance(claim, str) else claim
    calls = (
        "" if claim is None else f" <span class='mcp-quiet'>(it calls itself {said(stated)})</span>"
    )
    return (
        f"<div><b style='font-size:1.15em'>{escape(question.server)}</b> asks you{calls}"
        f"</div><div class='mcp-said' style='margin:6px 0'>{said(question.message)}</div>"
    )


def label(field: Field) -> str:
    """A field's label, apart from its name on the wire, and its description."""
    must = " <span class='mcp-wrong'>* required</span>" if field.required else ""
    about = f"<div class='mcp-quiet mcp-said'>{said(field.description)}</div>"
    return (
        f"<div class='mcp-label'><b>{said(field.label)}</b>{must}"
        f" <code class='mcp-quiet'>{said(field.name)}</code>"
        f"{about if field.description else ''}</div>"
    )


def foot(field: Field, problems: list[str]) -> str:
    """Under a field: what fits, or what is wrong with what is there."""
    fits = hint(field)
    return _wrong(problems) or (f"<div class='mcp-quiet'>{escape(fits)}</div>" if fits else "")


def status(question: "Question") -> str:
    """Under the buttons: refused, answered, or why nothing was sent."""
    answer = f"<code>{said(compact(question.answer))}</code>"
    if question.refusal:
        return (
            f"<div><b class='mcp-wrong'>Not shown to you.</b> {said(question.refusal)}.</div>"
            f"<div style='margin-top:6px'>Answered for you: {answer}</div>"
        )
    if question.answer is not None:
        return f"<div style='margin-top:8px'>Your answer: {answer}</div>"
    if question.problems:
        told = [f"{name}: {p}" if name else p for name, ps in question.problems.items() for p in ps]
        return f"<div style='margin-top:8px'>Nothing was sent.{_wrong(told)}</div>"
    return ""


def _wrong(problems: list[str]) -> str:
    return "".join(f"<div class='mcp-wrong'>✕ {said(problem)}</div>" for problem in problems)


# --- an address ---


def host_only(address: Address) -> str:
    """Where the page is, before the person asks to see more."""
    return f"<div>A page at <b>{escape(address.host)}</b></div>{_warnings(address)}"


def whole_address(address: Address) -> str:
    """The whole address with its host standing out, the warnings, and the link to click."""
    shown = f"{escape(address.before)}<b>{escape(address.host)}</b>{escape(address.after)}"
    return (
        f"<div class='mcp-url'>{shown}</div>{_warnings(address)}"
        f"<div><a class='mcp-open' href='{escape(address.url)}' target='_blank'"
        f" rel='noopener noreferrer'>Open {escape(address.host)} in a new tab</a></div>"
        "<div class='mcp-quiet'>What you type there does not come back here. "
        "When you are done, go on below.</div>"
    )


def _warnings(address: Address) -> str:
    return "".join(f"<div class='mcp-warn'>⚠ {escape(w)}</div>" for w in address.warnings)


# --- how a call ended ---


def ending(asking: "Asking") -> str:
    """Under the questions: the result, or why there is none."""
    if asking.error is not None:
        told = f"✕ {said(f'No result from {asking.server}: {reason(asking.error)}')}"
        kept = f"<div class='mcp-quiet'>{KEPT}</div>"
        again = kept if isinstance(asking.error, TransportClosed) else ""
        return f"<div class='mcp-ending'><div class='mcp-wrong mcp-said'>{told}</div>{again}</div>"
    if asking.result is not None:
        mark = "<b class='mcp-wrong'>✕</b>" if asking.result.get("isError") else "<b>✓</b>"
        told = f"{mark} <b>{escape(asking.server)}</b> answered: {said(gist(asking.result))}"
        return f"<div class='mcp-ending mcp-said'>{told}</div>"
    if len(asking.waiting()) < len(asking.questions):
        names = ", ".join(question.key for question in asking.waiting())
        told = said(f"Kept. It is sent when this is answered too: {names}")
        return f"<div class='mcp-ending mcp-quiet'>{told}</div>"
    return ""
