"""The rules of results: their type, their cache fields, their shape, and what they promise.

Where a page only shows a shape, the schema decides: it is "the source of truth" (basic/index).

Does not handle: errors (`rules_refusals`), `input_required` (`rules_asking`).

Spec: basic/index ("ResultType"), server/utilities/caching, server/tools, schema.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcp_bare import json_schema, mirrors, results, revision
from mcp_bare.errors import IllegalSchema, ProtocolViolation
from mcp_bare.exam.learned import items
from mcp_bare.exam.rule import MUST, SHOULD, Exam, Finding, Rule, about, as_object
from mcp_bare.exam.shapes import SHAPES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp_bare.exam.record import Exchange, Record
    from mcp_bare.revision import JsonObject

KNOWN = ("complete", "input_required")
TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


def has_type(exam: Exam) -> Iterator[Finding | None]:
    for record, exchange, result in exam.results():
        typed = isinstance(result.get("resultType"), str)
        yield None if typed else about(record, exchange, "the result has no resultType")


def known_type(exam: Exam) -> Iterator[Finding | None]:
    if not exam.capabilities.get("extensions"):  # an extension may bring types of its own
        for record, exchange, result in exam.results():
            kind = result.get("resultType", "complete")
            why = f"{kind!r} is neither {' nor '.join(KNOWN)}, and no extension is advertised"
            yield None if kind in KNOWN else about(record, exchange, why)


def cache(exam: Exam) -> Iterator[Finding | None]:
    for record, exchange, result in _complete(exam):
        if exchange.method in revision.CACHEABLE:
            ttl, scope = result.get("ttlMs"), result.get("cacheScope")
            whole = isinstance(ttl, int) or (isinstance(ttl, float) and ttl.is_integer())
            sound = whole and not isinstance(ttl, bool) and ttl is not None and ttl >= 0
            why = f"ttlMs is {ttl!r} (an integer >= 0) and cacheScope {scope!r} (public, private)"
            right = sound and scope in ("public", "private")
            yield None if right else about(record, exchange, why)


def cache_pages(exam: Exam) -> Iterator[Finding | None]:
    for method, pages in exam.learned.pages.items():
        if len(pages) > 1:
            scopes = {str(page.get("cacheScope")) for page in pages}
            why = f"the pages say {' and '.join(sorted(scopes))}"
            yield Finding(method, f"{len(pages)} pages", why) if len(scopes) > 1 else None


def declared(exam: Exam) -> Iterator[Finding | None]:
    for record, exchange in exam.answered():
        kind, _, verb = exchange.method.partition("/")
        if verb != "list" or kind not in ("tools", "prompts", "resources") or record.name != "meet":
            continue
        if "_meta" not in exchange.params or exchange.params.get("cursor") is not None:
            continue
        if kind in exam.capabilities:
            if _first(record, exchange):
                why = f"it declares {kind}, and does not list them"
                yield None if exchange.result is not None else about(record, exchange, why)
        elif exchange.result is not None and items(exchange.method, exchange.result):
            yield about(record, exchange, f"it has {kind}, and does not declare them")


def same_lists(exam: Exam) -> Iterator[Finding | None]:
    listed: dict[str, dict[str, set[str]]] = {}
    for record, exchange, result in _complete(exam):
        if record.name in ("meet", "second") and exchange.method in revision.LISTS:
            of = listed.setdefault(exchange.method, {}).setdefault(record.name, set())
            of |= {str(i.get("name") or i.get("uri")) for i in items(exchange.method, result)}
    for method, by in listed.items():
        if len(by) > 1:
            differ = sorted(by["meet"] ^ by["second"])
            why = "only one of two connections lists " + ", ".join(differ)
            yield Finding(method, str(differ), why) if differ else None


def shapes(exam: Exam) -> Iterator[Finding | None]:
    for record, exchange, result in _complete(exam):
        try:
            results.check(exchange.method, result)
        except ProtocolViolation as trouble:
            yield about(record, exchange, str(trouble))
            continue
        judge = SHAPES.get(exchange.method)
        wrong = list(judge(result)) if judge else []
        yield about(record, exchange, "; ".join(wrong[:3])) if wrong else None


def input_schemas(exam: Exam) -> Iterator[Finding | None]:
    for tool in exam.learned.listed("tools/list"):
        schema = tool.get("inputSchema")
        why = f"the inputSchema of {tool.get('name')} is no schema of an object"
        sound = isinstance(schema, dict) and schema.get("type") == "object"
        yield None if sound else Finding("tools/list", str(tool), why)


def mirrored(exam: Exam) -> Iterator[Finding | None]:
    for tool in exam.learned.listed("tools/list"):
        if mirrors.ANNOTATION in str(tool.get("inputSchema")):
            try:
                mirrors.mirrors(tool["inputSchema"])
                yield None
            except IllegalSchema as trouble:
                yield Finding("tools/list", str(tool), str(trouble))


def output_schemas(exam: Exam) -> Iterator[Finding | None]:
    promised = {
        str(tool.get("name")): tool["outputSchema"]
        for tool in exam.learned.listed("tools/list")
        if "outputSchema" in tool
    }
    for record, exchange, result in _complete(exam):
        schema = promised.get(str(exchange.params.get("name")))
        if exchange.method != "tools/call" or schema is None or result.get("isError") is True:
            continue
        if "structuredContent" not in result:
            yield about(record, exchange, "the tool has an outputSchema, the result no structure")
            continue
        try:
            wrong = json_schema.problems(schema, result["structuredContent"])
        except IllegalSchema:
            continue  # not ours to judge
        yield about(record, exchange, "; ".join(wrong[:3])) if wrong else None


def server_info(exam: Exam) -> Iterator[Finding | None]:
    for record, exchange, result in exam.results():
        info = as_object(as_object(result.get("_meta")).get(revision.SERVER_INFO))
        named = isinstance(info.get("name"), str) and isinstance(info.get("version"), str)
        yield None if named else about(record, exchange, f"_meta has no {revision.SERVER_INFO}")


def tool_names(exam: Exam) -> Iterator[Finding | None]:
    names = [tool.get("name") for tool in exam.learned.listed("tools/list")]
    for name in names:
        good = isinstance(name, str) and TOOL_NAME.fullmatch(name) and names.count(name) == 1
        why = "letters, digits, _ - and . up to 128, and each name once"
        yield None if good else Finding("tools/list", str(name), why)


# --- what they have in common ---


def _complete(exam: Exam) -> Iterator[tuple[Record, Exchange, JsonObject]]:
    for record, exchange, result in exam.results():
        if result.get("resultType", "complete") == "complete":
            yield record, exchange, result


def _first(record: Record, exchange: Exchange) -> bool:
    """Whether this was the first request of its method in the sitting."""
    return next(e for e in record.exchanges if e.method == exchange.method) is exchange


INDEX, CACHING, TOOLS = "basic/index", "server/utilities/caching", "server/tools"
NO_RESULT = "no result came"
RULES = (
    Rule("result-type", MUST, INDEX, "each result has a resultType",
         'Add "resultType": "complete".', has_type, NO_RESULT),
    Rule("known-result-type", MUST, INDEX, "a resultType is of the core, or of an extension",
         "Use complete or input_required, or advertise your extension.", known_type,
         "no result came, or there are extensions"),
    Rule("cache", MUST, CACHING, "lists, reads and discovery say how long they may be kept",
         'Add "ttlMs" and "cacheScope"; 0 and "private" are always safe.', cache, NO_RESULT),
    Rule("cache-pages", MUST, CACHING, "all pages of a list have the same cacheScope",
         "Decide the scope per list, not per page.", cache_pages, "no list has a second page"),
    Rule("declared", MUST, "server/tools, server/resources, server/prompts",
         "what is declared can be listed, and what is listed is declared",
         "Make capabilities say what the server has.", declared, "no list was answered"),
    Rule("same-lists", MUST, "server/tools, server/resources, server/prompts",
         "a list does not depend on the connection",
         "Keep no list in a session; build it from what all processes share.", same_lists,
         "no list was answered twice"),
    Rule("shapes", MUST, "schema", "a complete result has the shape of its method",
         "Compare the result with the schema's type of that name.", shapes, NO_RESULT),
    Rule("input-schemas", MUST, TOOLS, "a tool's inputSchema is a JSON Schema of an object",
         'Without parameters: {"type": "object", "additionalProperties": false}.', input_schemas,
         "it has no tools"),
    Rule("output-schemas", MUST, TOOLS, "structuredContent keeps the tool's outputSchema",
         "Validate before you answer, or drop the outputSchema.", output_schemas,
         "no tool with an outputSchema gave a result"),
    Rule("x-mcp-header", MUST, TOOLS, "a mirrored parameter is annotated as it may be",
         "A unique token, on a string, an integer or a boolean.", mirrored,
         "no parameter is mirrored"),
    Rule("server-info", SHOULD, INDEX, "each result names the server in _meta",
         "Add serverInfo with name and version.", server_info, NO_RESULT),
    Rule("tool-names", SHOULD, TOOLS, "tools have names that every client can use",
         "Rename.", tool_names, "it has no tools"),
)  # fmt: skip
