"""The command line: `python -m mcp_bare probe | call | check | tap | doctor`.

    python -m mcp_bare probe -- npx @modelcontextprotocol/server-everything stdio
    python -m mcp_bare call create_event '{"title": "Dentist"}' -- python ...
    python -m mcp_bare call resources/read '{"uri": "calendar://week"}' -- python ...
    python -m mcp_bare check -- python toy_servers/calendar_by_hand.py
    python -m mcp_bare tap --out wire.jsonl -- python ...
    python -m mcp_bare doctor

What goes over the wire is printed with arrows. Exit codes: 0 done, 1 it failed, 2 wrong usage,
3 the server asks for input and nobody answered; `tap` leaves with the server's.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from mcp_bare import elicitation, era
from mcp_bare.client import Client
from mcp_bare.errors import IllegalSchema, InputNeeded, McpError
from mcp_bare.stdio import StdioTransport
from mcp_bare.tape import Tape, compact

if TYPE_CHECKING:
    from mcp_bare.revision import JsonObject


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    words = sys.argv[1:] if argv is None else argv
    ours, command = _split(words)
    options = _parser().parse_args(ours)
    if options.verb == "doctor":
        from mcp_bare import doctor

        return doctor.main()
    if not command:
        _parser().error("name the server to start after `--`, as in: -- python server.py")
    options.command = command
    try:
        verbs = {"probe": _probe, "call": _call, "check": _check, "tap": _tap}
        return verbs[options.verb](options)
    except McpError as trouble:
        print(f"! {trouble}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m mcp_bare", description="Speak MCP to a stdio server, and see every message."
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    probe = verbs.add_parser("probe", help="which era is this server of? -- COMMAND")
    call = verbs.add_parser("call", help="call a tool, or any method -- COMMAND")
    call.add_argument("name", help="a tool's name, or a method with a slash such as tools/list")
    call.add_argument("json", nargs="?", default="{}", help="arguments, or params, as JSON")
    call.add_argument("--answer", metavar="JSON", help="the form's content, where the server asks")
    call.add_argument("--decline", action="store_true", help="decline whatever the server asks")
    for verb in (probe, call):
        verb.add_argument("--timeout", type=float, default=10.0, metavar="S")
        verb.add_argument("--meta", action="store_true", help="print _meta too")
        verb.add_argument("--save", metavar="FILE", help="save the tape")
    check = verbs.add_parser(
        "check",
        help="does this server keep the MUSTs over stdio? -- COMMAND",
        description="Examine a stdio server. Its tools are called with made-up arguments, but for "
        "those that say that they destroy.",
    )
    check.add_argument("--timeout", type=_seconds, default=10.0, metavar="S", help="for an answer")
    check.add_argument("--read-only", action="store_true", help="call only tools that say so")
    check.add_argument(
        *("--args", "--arguments"), nargs=2, action="append", default=[], metavar=("TOOL", "JSON"),
        help="call this tool with these arguments",
    )  # fmt: skip
    check.add_argument("--all", action="store_true", help="print every page and every finding")
    tap = verbs.add_parser("tap", help="record what a host and a server say -- COMMAND")
    tap.add_argument("--out", required=True, metavar="FILE", help="the recording; is appended to")
    verbs.add_parser("doctor", help="is everything here that the course needs?")
    return parser


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    if "--" not in words:
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]


def _probe(options: argparse.Namespace) -> int:
    tape = Tape()
    try:
        client, verdict = era.connect(
            lambda: StdioTransport(options.command), tape=tape, timeout=options.timeout
        )
    finally:
        _finish(tape, options)
    with client:
        print(f"= {verdict.era}: {verdict.why}")
        if verdict.era == era.LEGACY:
            print(f"= fell back to initialize in a fresh process, agreed on {client.version}")
        else:
            print(f"= speaks {client.version}")
    return 0


def _call(options: argparse.Namespace) -> int:
    try:
        params = _object(options.json)
        answer = None if options.answer is None else _object(options.answer)
    except ValueError as trouble:
        print(f"! {trouble}", file=sys.stderr)
        return 2
    if "/" not in options.name:
        params = {"name": options.name, "arguments": params}
    method = options.name if "/" in options.name else "tools/call"
    tape = Tape()
    handlers = {"elicitation/create": lambda asked: _answer(asked, answer, options.decline)}
    with Client(
        StdioTransport(options.command), handlers=handlers, tape=tape, timeout=options.timeout
    ) as client:
        try:
            client.complete_request(method, params)
        except InputNeeded as asked:
            print(f"! {asked}", file=sys.stderr)
            return 3
        finally:
            _finish(tape, options)
    return 0


def _check(options: argparse.Namespace) -> int:
    from mcp_bare import check

    try:
        arguments = {name: _object(text) for name, text in options.args}
    except ValueError as trouble:
        print(f"! {trouble}", file=sys.stderr)
        return 2
    verdicts = list(
        check.run(
            options.command,
            patience=check.Patience(answer=options.timeout),
            read_only=options.read_only,
            arguments=arguments,
        )
    )
    print(*check.report(verdicts, everything=options.all), sep="\n")
    return 0 if check.passed(verdicts) else 1


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < 3600:
        raise ValueError("more than 0 and less than an hour")
    return seconds


def _tap(options: argparse.Namespace) -> int:
    from mcp_bare import tap

    return tap.leave(tap.run(options.command, options.out))


def _answer(asked: JsonObject, given: JsonObject | None, decline: bool) -> JsonObject:
    """The person's answer: from the command line, or typed at the terminal."""
    if decline:
        return elicitation.decline()
    if asked.get("mode") == "url":
        print(f"! open this page yourself: {asked.get('url')}", file=sys.stderr)
        return elicitation.accept() if _yes("Did you open it?") else elicitation.cancel()
    schema = asked.get("requestedSchema")
    elicitation.check_form(schema)
    assert isinstance(schema, dict)
    if given is None:
        given = _typed(asked.get("message", ""), schema)
    wrong = elicitation.answer_problems(schema, given or {})
    if given is not None and wrong:
        raise IllegalSchema(f"this answer does not fit the form: {'; '.join(wrong)}")
    return elicitation.cancel() if given is None else elicitation.accept(given)


def _typed(message: str, schema: JsonObject) -> JsonObject | None:
    """Ask field by field at the terminal; None where there is no terminal or the person leaves."""
    if not sys.stdin.isatty():
        return None
    print(f"! the server asks: {message}", file=sys.stderr)
    content: JsonObject = {}
    for field in elicitation.fields(schema):
        try:
            text = input(f"  {field.label}: ")
        except EOFError:
            return None
        if text:
            content[field.name] = text if field.kind in ("text", "choice") else json.loads(text)
    return content


def _yes(question: str) -> bool:
    return sys.stdin.isatty() and input(f"  {question} [y/N] ").lower().startswith("y")


def _object(text: str) -> JsonObject:
    try:
        value = json.loads(text)
    except ValueError as trouble:
        raise ValueError(f"{text!r} is not JSON: {trouble}") from None
    if not isinstance(value, dict):
        raise ValueError(f"{compact(value)} is no JSON object")
    return value


def _finish(tape: Tape, options: argparse.Namespace) -> None:
    tape.print(meta=options.meta)
    if options.save:
        tape.save(options.save)


if __name__ == "__main__":
    sys.exit(main())
