"""Servers and clients with one MUST broken each: a habit, the clause, and what has to go red.

`SERVERS` are our own `everything` with somebody before it (`between`). In `CLIENTS` somebody stands
before the suite's server, or goes to log in: there the client under test is this file, with a
fault's name before the address:

    python tests/conformance/broken.py state-written-again http://localhost:1234/mcp
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, from anywhere

from tests.conformance import client, habits
from tests.conformance.between import Between, Habit


@dataclass(frozen=True)
class Fault:
    """`scenario` is the one that looks; `checks` are those of its checks that must complain."""

    clause: str
    scenario: str
    checks: frozenset[str]
    habit: Habit
    follow: Callable[[str], str]  # how a client goes to log in


def fault(clause: str, scenario: str, *checks: str, follow=client.follow, **how) -> Fault:
    return Fault(clause, scenario, frozenset(checks), Habit(**how), follow)


SERVERS = {
    "no-meta-needed": fault(
        "basic/index, _meta",
        "server-stateless",
        "sep-2575-request-meta-invalid-missing-meta",
        "sep-2575-request-meta-invalid-missing-protocol-version",
        "sep-2575-request-meta-invalid-missing-client-capabilities",
        ask=habits.forgive_meta,
    ),
    "every-client-can-everything": fault(
        "basic/patterns/mrtr",
        "server-stateless",
        "sep-2575-server-rejects-undeclared-capability",
        ask=habits.believe_in_everything,
    ),
    "asks-what-cannot-be-answered": fault(
        "basic/patterns/mrtr",
        "input-required-result-capability-check",
        "sep-2322-respect-client-capabilities",
        ask=habits.believe_in_everything,
    ),
    "logs-unasked": fault(
        "server/utilities/logging",
        "server-stateless",
        "sep-2575-server-no-log-without-loglevel",
        ask=habits.log_always,
    ),
    "looks-at-no-header": fault(
        "basic/transports/streamable-http",
        "http-header-validation",
        "sep-2243-server-reject-invalid-headers",
        ask=habits.look_at_no_header,
    ),
    "looks-at-no-param-header": fault(
        "basic/transports/streamable-http",
        "http-custom-header-server-validation",
        "sep-2243-server-validate-param-match",
        "sep-2243-server-reject-invalid-param-chars",
        ask=habits.look_at_no_param_header,
    ),
    "any-page-may-call": fault(
        "basic/transports/streamable-http",
        "dns-rebinding-protection",
        "localhost-host-rebinding-rejected",
        ask=habits.look_at_no_host,
    ),
    "opens-any-state": fault(
        "basic/patterns/mrtr",
        "input-required-result-tampered-state",
        "sep-2322-reject-tampered-state",
        ask=habits.open_any_state,
    ),
    "always-200": fault(
        "basic/transports/streamable-http",
        "server-stateless",
        "sep-2575-http-server-method-not-found-404",
        "sep-2575-http-server-unsupported-version-400",
        "sep-2575-missing-capability-http-400",
        status=habits.always_200,
    ),
    "errors-under-another-id": fault(
        "basic/index",
        "server-stateless",
        "sep-2575-http-server-error-jsonrpc-id",
        say=habits.other_id,
    ),
    "no-result-type": fault(
        "basic/index",
        "input-required-result-result-type",
        "sep-2322-result-type-included",
        "wire-schema-valid",
        say=habits.without("resultType"),
    ),
    "no-caching-hints": fault(
        "server/utilities/caching",
        "caching",
        "sep-2549-tools-list-caching-hints",
        "sep-2549-resources-read-caching-hints",
        "wire-schema-valid",
        say=habits.without("ttlMs", "cacheScope"),
    ),
    "kept-for-ever": fault(
        "server/utilities/caching",
        "caching",
        "sep-2549-ttl-non-negative",
        say=habits.for_ever,
    ),
    "empty-for-missing": fault(
        "server/resources",
        "sep-2164-resource-not-found",
        "sep-2164-no-empty-contents",
        say=habits.empty_for_missing,
    ),
    "asks-while-listing": fault(
        "basic/patterns/mrtr",
        "input-required-result-unsupported-methods",
        "sep-2322-not-on-unsupported-requests",
        say=habits.ask_while_listing,
    ),
    "asks-on-the-stream": fault(
        "basic/transports/streamable-http",
        "server-stateless",
        "sep-2575-http-server-no-independent-requests-on-stream",
        say=habits.request_on_the_stream,
    ),
    "progress-under-its-own-token": fault(
        "basic/patterns/progress",
        "tools-call-with-progress",
        "tools-call-with-progress",
        say=habits.own_token,
    ),
    "untagged-notifications": fault(
        "basic/patterns/subscriptions",
        "server-stateless",
        "sep-2575-server-tags-subscription-id",
        say=habits.untagged,
    ),
    "tells-what-nobody-asked": fault(
        "basic/patterns/subscriptions",
        "server-stateless",
        "sep-2575-server-honors-notification-filter",
        say=habits.everything_to_everyone,
    ),
    "drops-keywords": fault(
        "server/tools",
        "json-schema-2020-12",
        "json-schema-2020-12-$defs",
        "sep-2106-conditional-keywords-preserved",
        say=habits.plain_schemas,
    ),
}

UNSEEN = {
    "version-refused-with-another-code": fault(
        "basic/versioning", "server-stateless", say=habits.another_code(-32022, -32602)
    ),
    "results-under-another-id": fault(
        "basic/index", "tools-call-simple-text", say=habits.result_of_another
    ),
}
"""What the suite does not look at: a MUST is broken, and it says nothing."""

MRTR = "sep-2322-client-request-state"
CLIENTS = {
    "state-written-again": fault(
        "basic/patterns/mrtr",
        MRTR,
        "sep-2322-client-request-state-echoed",
        ask=habits.tidy_state,
    ),
    "same-id-again": fault(
        "basic/patterns/mrtr",
        MRTR,
        "sep-2322-client-jsonrpc-id-different",
        ask=habits.same_id,
        say=habits.real_id,
    ),
    "no-version-header": fault(
        "basic/transports/streamable-http",
        "request-metadata",
        "sep-2575-http-client-sends-version-header",
        ask=habits.no_header("MCP-Protocol-Version"),
    ),
    "no-name-header": fault(
        "basic/transports/streamable-http",
        "http-standard-headers",
        "sep-2243-client-includes-standard-headers",
        ask=habits.no_header("Mcp-Name"),
    ),
    "calls-any-tool": fault(
        "basic/transports/streamable-http",
        "http-invalid-tool-headers",
        "sep-2243-x-mcp-header-unique",
        "sep-2243-x-mcp-header-not-empty",
        say=habits.any_tool,
    ),
    "no-code-challenge": fault(
        "basic/authorization",
        "auth/metadata-default",
        "pkce-code-challenge-sent",
        "pkce-verifier-matches-challenge",
        follow=habits.follow_without("code_challenge", "code_challenge_method"),
    ),
    "no-resource": fault(
        "basic/authorization",
        "auth/metadata-default",
        "resource-parameter-in-authorization",
        follow=habits.follow_without("resource"),
    ),
    "believes-any-issuer": fault(
        "basic/authorization",
        "auth/iss-wrong-issuer",
        "sep-2468-client-compare-iss-supported",
        follow=habits.believe_any_issuer,
    ),
}


def main() -> int:
    """Be the client under test, with the fault that is named before the address."""
    name, url = sys.argv[-2:]
    wrong = CLIENTS[name]
    client.follow = wrong.follow
    if wrong.habit == Habit():
        return client.run(url)
    with Between(url, wrong.habit) as between:
        return client.run(between.url)


if __name__ == "__main__":
    sys.exit(main())
