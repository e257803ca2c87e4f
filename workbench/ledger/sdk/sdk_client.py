"""The official Python SDK's client, against servers given as JSON lists of words.

    sdk_client.py '["python", "toy_servers/calendar_by_hand.py"]' ...

For each it prints one JSON object: how many tools it was told of, or what went wrong; and what the
SDK logged meanwhile, from warnings upwards.
"""

import asyncio
import json
import logging
import sys

from mcp import Client, StdioServerParameters


async def ask(command: list[str]) -> dict:
    try:
        async with Client(StdioServerParameters(command=command[0], args=command[1:])) as client:
            listed = await client.list_tools()
            return {"tools": len(listed.tools)}
    except Exception as trouble:
        return {"error": repr(trouble)}


class Kept(logging.Handler):
    """The messages since the last server."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(f"{record.levelname} {record.getMessage()}")


async def main() -> None:
    kept = Kept()
    logging.getLogger().addHandler(kept)
    for text in sys.argv[1:]:
        answer = await asyncio.wait_for(ask(json.loads(text)), 20)
        print(json.dumps({**answer, "log": kept.messages}), flush=True)
        kept.messages.clear()


if __name__ == "__main__":
    asyncio.run(main())
