"""The official Python client, and what it makes of the tool `promised` of a server.

    sdk_validates.py python promises.py 1

Prints "takes it", or "refuses".
"""

import asyncio
import sys

from mcp import Client, StdioServerParameters


async def ask(command: str, *args: str) -> str:
    async with Client(StdioServerParameters(command=command, args=list(args))) as client:
        await client.list_tools()
        try:
            await client.call_tool("promised", {})
        except RuntimeError:  # what the SDK raises for content that breaks the schema
            return "refuses"
        return "takes it"


if __name__ == "__main__":
    print(asyncio.run(asyncio.wait_for(ask(*sys.argv[1:]), 40)))
