"""A server of ours that does a little of everything, in memory or, run as a script, over stdio."""

from __future__ import annotations

import time

from mcp_bare import elicitation
from mcp_bare.errors import ErrorResponse, InvalidParams, ToolError
from mcp_bare.server import Server, text_result
from mcp_bare.state import Seal

KEY = b"a key that both processes share, for tests"
SECRET = "the password is hunter2"
CONFIRM = elicitation.form("Sure?", {"sure": {"type": "boolean", "default": False}}, ["sure"])
WHEN = elicitation.form("When?", {"at": {"type": "string", "format": "date-time"}}, ["at"])
SAMPLE = {
    "method": "sampling/createMessage",
    "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Capital of France?"}}],
        "maxTokens": 20,
    },
}
ROOTS = {"method": "roots/list", "params": {}}
LINK = elicitation.url("Connect your account", "https://example.com/connect")
WITH_TOOLS = {**SAMPLE, "params": {**SAMPLE["params"], "toolChoice": {"mode": "none"}}}
QUESTIONS = {
    "form": CONFIRM,
    "url": LINK,
    "sampling": SAMPLE,
    "sampling with tools": WITH_TOOLS,
    "roots": ROOTS,
}


def tool(name: str, properties: dict, required: tuple[str, ...] = (), **more: object) -> dict:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "description": f"The tool {name}.", "inputSchema": schema, **more}


TEXT, INTEGER = {"type": "string"}, {"type": "integer"}


def build(**options: object) -> Server:
    """A fresh server; the options are Server's."""
    server = Server(
        "everything of ours", "1.0.0", instructions="Ask away.", logging=True, **options
    )
    _add_tools(server)
    _add_asking_tools(server)
    _add_resources(server)
    _add_prompts(server)
    return server


def _add_tools(server: Server) -> None:
    @server.tool(tool("echo", {"text": TEXT}, ("text",)))
    def echo(call):
        return call.arguments["text"]

    total = {"type": "object", "properties": {"sum": INTEGER}, "required": ["sum"]}

    @server.tool(tool("add", {"a": INTEGER, "b": INTEGER}, ("a", "b"), outputSchema=total))
    def add(call):
        found = call.arguments["a"] + call.arguments["b"]
        return text_result(str(found), {"sum": found})

    @server.tool(tool("count", {"to": INTEGER}, ("to",)))
    def count(call):
        for step in range(1, call.arguments["to"] + 1):
            yield call.progress(step, call.arguments["to"], f"step {step}")
            yield call.log("info", {"step": step}, "counter")
            yield call.log("debug", "too much detail")
        return "counted"

    @server.tool(tool("fail", {"how": TEXT}, ("how",)))
    def fail(call):
        raise {
            "exception": RuntimeError(SECRET),
            "words": ToolError("The calendar is closed on Sundays."),
            "protocol": InvalidParams("not like this"),
            "exit": SystemExit(SECRET),
            "upstream": ErrorResponse({"code": -32022, "message": SECRET}),
        }[call.arguments["how"]]

    @server.tool(tool("fail_midway", {"how": TEXT}, ("how",)))
    def fail_midway(call):
        yield call.progress(1)
        fail(call)

    running = []

    @server.tool(tool("wait", {}))
    def wait(call):
        running.append(call)
        try:
            for step in range(3000):
                yield call.progress(step)
                time.sleep(0.01)
            return "waited"
        finally:
            running.remove(call)

    @server.tool(tool("waiting", {}))
    def waiting(call):
        return str(len(running))

    @server.tool(tool("change", {}))
    def change(call):
        server.tool(tool("newcomer", {}))(lambda call: "here")
        server.changed("tools")
        server.updated("memo://one")
        server.changed("prompts")
        return "changed"

    @server.tool(tool("end_subscriptions", {}))
    def end_subscriptions(call):
        server.subscriptions.close()
        return "ended"


def _add_asking_tools(server: Server) -> None:
    seal, booked = Seal(KEY), []

    @server.tool(tool("book", {"title": TEXT}, ("title",)))
    def book(call):
        said = elicitation.read(call.input_responses, "when", WHEN)
        if said.action == "missing":
            return call.ask({"when": WHEN}, seal.close({"title": call.arguments["title"]}, call))
        state = seal.open(call.request_state or "", call)
        if said.action != "accept":
            return f"not booked: {said.action}"
        booked.append(state["title"])
        return f"booked {state['title']} at {said.content['at']}"

    @server.tool(tool("bookings", {}))
    def bookings(call):
        return str(len(booked))

    @server.tool(tool("ask", {"what": TEXT}, ("what",)))
    def ask(call):
        if call.input_responses:
            return f"answered {sorted(call.input_responses)}"
        if call.arguments["what"] not in QUESTIONS:
            raise ToolError("There is no such question.")
        return call.ask({"q": QUESTIONS[call.arguments["what"]]}, "opaque=/+ état")

    @server.tool(tool("ask_forever", {}))
    def ask_forever(call):
        return call.ask({"q": CONFIRM}, f"{call.request_state or ''}x")


def _add_resources(server: Server) -> None:
    @server.resource({"uri": "memo://one", "name": "one", "mimeType": "text/plain"}, ttl_ms=60_000)
    def one(call):
        return "the first memo"

    @server.resource({"uri": "memo://bytes", "name": "bytes", "mimeType": "image/png"})
    def some_bytes(call):
        return b"\x89PNG\xff\x00"

    @server.resource({"uri": "memo://guarded", "name": "guarded"}, ttl_ms=60_000)
    def guarded(call):
        rounds = len(call.request_state or "")
        return "guarded" if rounds == 2 else call.ask({"sure": CONFIRM}, "x" * (rounds + 1))

    @server.template({"uriTemplate": "memo://{day}/{title}", "name": "memo of a day"})
    def of_a_day(call):
        if call.variables["title"] == "none":
            return None
        return f"{call.variables['title']} on {call.variables['day']}"

    @server.completion("memo://{day}/{title}", "day")
    def days(call):
        found = [f"day-{number:03}" for number in range(150)]
        return [day for day in found if day.startswith(call.arguments["value"])]


def _add_prompts(server: Server) -> None:
    arguments = [{"name": "who", "required": True}, {"name": "tone"}]

    @server.prompt({"name": "greet", "description": "Say hello.", "arguments": arguments})
    def greet(call):
        return f"Say hello to {call.arguments['who']}."

    @server.prompt({"name": "careful"})
    def careful(call):
        return "Be careful." if call.input_responses else call.ask({"sure": CONFIRM})

    @server.completion("greet", "who")
    def who(call):
        return [name for name in ("Ada", "Alan") if name.startswith(call.arguments["value"])]


if __name__ == "__main__":
    from mcp_bare.stdio import serve

    serve(build())
