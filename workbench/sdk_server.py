"""A server on the official Python SDK, with one tool: `python -m workbench.sdk_server`.

The SDK makes the input schema from the signature, the description from the docstring, and an output
schema from the return type. Does not handle: elicitation, state, anything but that one tool.
"""

from mcp.server import MCPServer

server = MCPServer("calendar-on-the-sdk", version="1.0.0")


@server.tool()
def create_event(title: str, startsAt: str) -> str:
    """Create a calendar event. Writes to the calendar."""
    return f"Created e3: {title} at {startsAt}"


if __name__ == "__main__":
    server.run()
