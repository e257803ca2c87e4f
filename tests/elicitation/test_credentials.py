"""Is it a secret? Words that ask for one, words that only speak of one, and ways to hide one."""

import pytest

from mcp_bare import credentials, elicitation

TEXT = {"type": "string"}


@pytest.mark.parametrize(
    "label",
    [
        "password", "Password", "db_password", "userPassword", "passphrase", "PIN", "pin code",
        "apiKey", "APIKey", "API_KEY", "api-key", "access_token", "token", "secret",
        "clientSecret", "GitHub token", "one-time code", "verificationCode", "seedPhrase",
        "Credit card number", "cvv", "pass\u200bword", "ｐａｓｓｗｏｒｄ", "Parolă", "Passwort",
    ],
)  # fmt: skip
def test_a_label_that_names_a_secret(label):
    assert credentials.is_named(label)


@pytest.mark.parametrize(
    "label",
    [
        "user", "name", "email", "secretary", "pinned", "passport", "passenger", "compass",
        "key", "keyboard", "maxTokens", "tokens", "idTokens", "apiKeyName", "API key label",
        "passwordHint", "password policy", "Secret Santa", "card colour", "tokenizer",
    ],
)  # fmt: skip
def test_a_label_that_does_not(label):
    assert not credentials.is_named(label)


@pytest.mark.parametrize(
    ("message", "demanded"),
    [
        ("Please provide your API key to continue.", True),
        ("Paste your GitHub access token", True),
        ("What is your password?", True),
        ("We need your credit card number", True),
        ("Enter a name for your new API key", False),
        ("Enter your API key name", False),
        ("Choose how long the access token may live", False),
        ("Log in with your user name; do not enter your password", False),
    ],
)
def test_a_message_that_wants_one_handed_over(message, demanded):
    assert credentials.is_demanded(message) is demanded


@pytest.mark.parametrize(
    ("properties", "message", "found"),
    [
        ({"user": TEXT, "password": TEXT}, "Log in", ["password"]),
        ({"value": {**TEXT, "title": "Your PIN code"}}, "", ["value"]),
        ({"value": {**TEXT, "description": "Your API key, from the settings"}}, "", ["value"]),
        ({"value": {**TEXT, "description": "A name for your API key"}}, "", []),
        ({"user": {**TEXT, "description": "Never your password."}}, "", []),
        ({"pin": {"type": "integer"}}, "", ["pin"]),
        ({"value": TEXT, "other": TEXT}, "Paste your API key", ["value", "other"]),
        ({"value": TEXT, "password": TEXT}, "Paste your password", ["password"]),
        # What is not typed freely is no credential, whatever it is called.
        ({"apiKey": {"type": "boolean", "title": "Rotate the API key"}}, "", []),
        ({"apiKey": {**TEXT, "enum": ["prod", "test"]}}, "Which API key?", []),
        ({"password": {**TEXT, "format": "date", "title": "Password changed on"}}, "", []),
        ({"name": TEXT, "email": {**TEXT, "format": "email"}}, "Who are you?", []),
        ({}, "Enter your password", []),
    ],
)
def test_the_fields_of_a_form_that_ask_for_one(properties, message, found):
    schema = {"type": "object", "properties": properties}
    assert elicitation.secrets_asked({"message": message, "requestedSchema": schema}) == found
