"""All that revision 2026-07-28 requires, by the specification's own suite: 37 and 32 scenarios.

Each scenario stands here with the number of its checks that hold, as the pinned suite has them: one
that is lost, or looks at less than before, fails. The suite runs once for each end.
"""

import sys

import pytest

from tests.conformance import client as driver
from workbench import suite
from workbench.replicas import replicas

pytestmark = pytest.mark.usefixtures("conformance")

SERVER = {
    "server-stateless": 30,
    "completion-complete": 2,
    "tools-list": 4,
    "tools-call-simple-text": 2,
    "tools-call-image": 2,
    "tools-call-audio": 2,
    "tools-call-embedded-resource": 2,
    "tools-call-mixed-content": 2,
    "tools-call-error": 2,
    "tools-call-with-progress": 2,
    "server-sse-multiple-streams": 1,
    "resources-list": 2,
    "resources-read-text": 2,
    "resources-read-binary": 2,
    "resources-templates-read": 2,
    "sep-2164-resource-not-found": 4,
    "prompts-list": 2,
    "prompts-get-simple": 2,
    "prompts-get-with-args": 2,
    "prompts-get-embedded-resource": 2,
    "prompts-get-with-image": 2,
    "dns-rebinding-protection": 2,
    "caching": 8,
    "input-required-result-basic-elicitation": 3,
    "input-required-result-basic-sampling": 3,
    "input-required-result-basic-list-roots": 3,
    "input-required-result-request-state": 3,
    "input-required-result-multiple-input-requests": 3,
    "input-required-result-multi-round": 4,
    "input-required-result-missing-input-response": 2,
    "input-required-result-non-tool-request": 3,
    "input-required-result-result-type": 2,
    "input-required-result-unsupported-methods": 2,
    "input-required-result-tampered-state": 2,
    "input-required-result-capability-check": 2,
    "input-required-result-ignore-extra-params": 2,
    "input-required-result-validate-input": 3,
}
PENDING = {
    "json-schema-2020-12": 8,
    "http-header-validation": 14,
    "http-custom-header-server-validation": 10,
}
"""Not scored: the suite's own example server cannot pass them yet. We do."""
CLIENT = {
    "tools_call": 2,
    "request-metadata": 8,
    "auth/metadata-default": 19,
    "auth/metadata-var1": 19,
    "auth/metadata-var2": 19,
    "auth/metadata-var3": 19,
    "auth/basic-cimd": 13,
    "auth/scope-from-www-authenticate": 15,
    "auth/scope-from-scopes-supported": 15,
    "auth/scope-omitted-when-undefined": 15,
    "auth/scope-step-up": 26,
    "auth/scope-retry-limit": 29,
    "auth/token-endpoint-auth-basic": 20,
    "auth/token-endpoint-auth-post": 20,
    "auth/token-endpoint-auth-none": 20,
    "auth/pre-registration": 14,
    "auth/resource-mismatch": 2,
    "auth/offline-access-scope": 13,
    "auth/offline-access-not-supported": 15,
    "auth/authorization-server-migration": 28,
    "auth/iss-supported": 15,
    "auth/iss-not-advertised": 15,
    "auth/iss-supported-missing": 8,
    "auth/iss-wrong-issuer": 8,
    "auth/iss-unexpected": 8,
    "auth/iss-normalized": 8,
    "auth/metadata-issuer-mismatch": 3,
    "sep-2322-client-request-state": 5,
    "http-standard-headers": 9,
    "http-custom-headers": 18,
    "http-invalid-tool-headers": 12,
    "json-schema-ref-no-deref": 1,
}
ADDED_LATER = {
    "json-schema-2020-12-preservation": 9,
}
"""Not scored: it came after the revision."""
EXTENSIONS = {
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-request-state-removal",
    "tasks-mrtr-input",
    "tasks-request-headers",
    "tasks-dispatch-and-envelope",
    "tasks-status-notifications",
    "tasks-required-task-error",
    "tasks-mrtr-composition",
    "auth/client-credentials-jwt",
    "auth/client-credentials-basic",
    "auth/enterprise-managed-authorization",
    "auth/dpop",
    "auth/dpop-nonce",
    "auth/wif-jwt-bearer",
}
"""Run with the others and never scored: tasks, DPoP and other grants are no part of the core."""


@pytest.fixture(scope="module")
def server(conformance):
    with replicas("everything", 1) as [url]:
        return suite.against_server(url)


@pytest.fixture(scope="module")
def client(conformance):
    return suite.against_client([sys.executable, str(suite.PLACE / "client.py")])


def test_the_suite_asks_for_these_and_no_others():
    assert suite.required() == {"server": list(SERVER), "client": list(CLIENT)}
    assert (len(SERVER), len(CLIENT)) == (37, 32)


@pytest.mark.parametrize("scenario", [*SERVER, *PENDING])
def test_our_server_passes(server, scenario):
    passes(server, scenario, {**SERVER, **PENDING}[scenario])


@pytest.mark.parametrize("scenario", [*CLIENT, *ADDED_LATER])
def test_our_client_passes(client, scenario):
    passes(client, scenario, {**CLIENT, **ADDED_LATER}[scenario])


def passes(report, scenario, held):
    [result] = report.only([scenario]).results
    assert result.passed, result.why()
    assert result.held == held, [check.id for check in result.checks]


def test_nothing_else_was_run_and_the_suite_says_the_same(server, client):
    """Its exit code is its own verdict on what it scores."""
    assert {result.scenario for result in server.results} == {*SERVER, *PENDING} | {
        name for name in EXTENSIONS if name.startswith("tasks-")
    }
    assert {result.scenario for result in client.results} == {*CLIENT, *ADDED_LATER} | {
        name for name in EXTENSIONS if name.startswith("auth/")
    }
    assert (server.code, client.code) == (0, 0)


def test_the_wire_was_checked_against_the_schema(server):
    """Beside its own checks the suite holds each message of ours against the published schema."""
    schema = [
        (result.scenario, check.status)
        for result in server.only([*SERVER, *PENDING]).results
        for check in result.checks
        if check.id == "wire-schema-valid"
    ]
    assert len(schema) >= 30 and {status for _, status in schema} == {"SUCCESS"}


def test_nobody_asks_which_scenario_runs(repo):
    """But the driver, once, to choose what it calls: code that knew would examine itself."""
    for folder in ("mcp_bare", "toy_servers"):
        for file in (repo / folder).rglob("*.py"):
            assert "MCP_CONFORMANCE" not in file.read_text(encoding="utf-8"), file
    assert set(driver.CALLS) == set(ADDED_LATER)
    text = (suite.PLACE / "client.py").read_text(encoding="utf-8")
    assert text.count('environ.get("MCP_CONFORMANCE_SCENARIO"') == 1
    assert [name for name in CLIENT if f'"{name}"' in text] == []
