"""What happens on `everything` while somebody looks: progress, logs, lists that change.

Two lists change back and forth: a call adds something to them, the next one takes it away. One
resource changes each time it is touched.

Spec: basic/patterns/progress, basic/patterns/subscriptions, server/utilities/logging.
"""

import threading
import time

NOTHING = {"type": "object", "additionalProperties": False}
PAUSE_S = 0.05
WATCHED = "test://watched-resource"


def register(server):
    """Put all of it on a server."""
    lock = threading.Lock()  # over HTTP two calls may come at once
    touched = [0]

    def tool(name, description):
        return server.tool({"name": name, "description": description, "inputSchema": NOTHING})

    @tool("test_tool_with_progress", "Report progress three times.")
    def with_progress(call):
        for done in (0, 50, 100):
            yield call.progress(done, 100)
            time.sleep(PAUSE_S)
        return "Done."

    @tool("test_logging_tool", "Log three messages, where the request asks for them.")
    def with_logs(call):
        for message in ("Tool execution started", "processing data", "completed"):
            yield call.log("info", message)
            time.sleep(PAUSE_S)
        return "Logged, if that was asked for."

    @tool("test_trigger_tool_change", "Add a tool, or take it away again.")
    def change_tools(call):
        define = {"name": "test_extra_tool", "description": "Extra.", "inputSchema": NOTHING}
        with lock:
            return _toggle(server, "tools", server.tool, define)

    @tool("test_trigger_prompt_change", "Add a prompt, or take it away again.")
    def change_prompts(call):
        define = {"name": "test_extra_prompt", "description": "Extra."}
        with lock:
            return _toggle(server, "prompts", server.prompt, define)

    @tool("test_touch_watched_resource", "Let the watched resource change.")
    def touch(call):
        with lock:
            touched[0] += 1
        server.updated(WATCHED)
        return f"Touched {WATCHED}."

    @server.resource({"uri": WATCHED, "name": "watched", "mimeType": "text/plain"})
    def watched(call):
        return f"Touched {touched[0]} times."


def _toggle(server, kind, define, definition):
    name = definition["name"]
    there = name in server.defined[kind]
    if there:
        server.remove(kind, name)
    else:
        define(definition)(lambda call: "Extra.")
    server.changed(kind)
    return f"{name} is {'gone' if there else 'there'}."
