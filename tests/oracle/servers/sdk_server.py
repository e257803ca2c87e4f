"""A server on the official Python SDK, over stdio: what a peer that is not ours sends."""

from __future__ import annotations

import datetime
from typing import Annotated, Literal

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Resolve
from mcp.server.mcpserver.resolve import Elicit
from mcp_types import (
    Completion,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    InputRequiredResult,
)
from pydantic import BaseModel, Field

server = MCPServer("on the SDK", version="2.3.0", instructions="Ask away.")


class Booking(BaseModel):
    """Every shape of a field that the SDK can make of a type."""

    title: str = Field(title="What", min_length=1, max_length=40)
    at: datetime.datetime
    day: datetime.date | None = None
    guests: int = Field(default=0, ge=0, le=10)
    price: float = 0.0
    remind: bool = False
    note: str = ""
    room: Literal["red", "blue"] = "red"


class Room(BaseModel):
    room: Literal["red", "blue"]


async def ask_booking(title: str) -> Elicit[Booking]:
    return Elicit(f"When should {title!r} start?", Booking)


@server.tool()
async def book(title: str, booking: Annotated[Booking, Resolve(ask_booking)]) -> str:
    """Book a room; asks when."""
    return f"booked {booking.title} at {booking.at.isoformat()} in {booking.room}"


def form(message: str, properties: dict, required: list[str]) -> ElicitRequest:
    schema = {"type": "object", "properties": properties, "required": required}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


@server.tool()
async def ask_twice(ctx: Context) -> str | InputRequiredResult:
    """Asks for a name, then for a page to be opened."""
    answers, state = ctx.input_responses or {}, ctx.request_state
    if state is None:
        asked = {"who": form("Who?", {"name": {"type": "string"}}, ["name"])}
        return InputRequiredResult(input_requests=asked, request_state="asked who")
    if state == "asked who":
        name = answers["who"].content["name"]
        page = ElicitRequestURLParams(message="Connect", url="https://example.com/connect")
        asked = {"page": ElicitRequest(params=page)}
        return InputRequiredResult(input_requests=asked, request_state=f"asked page of {name}")
    return f"{state}: {answers['page'].action}"


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def fail(how: str) -> str:
    """Raises."""
    raise RuntimeError(f"the password is {how}")


@server.tool()
async def elicit(ctx: Context) -> str:
    """Asks in the middle of the call, as the legacy era does."""
    answer = await ctx.elicit("Which room?", Room)
    return f"{answer.action}: {answer.data.room if answer.action == 'accept' else None}"


@server.tool()
async def count(to: int, ctx: Context) -> str:
    """Reports progress and logs."""
    for step in range(1, to + 1):
        await ctx.report_progress(step, to, f"step {step}")
        await ctx.info(f"step {step}")
    return "counted"


@server.tool()
async def wait(ctx: Context) -> str:
    """Takes far too long."""
    for step in range(1, 3000):
        await ctx.report_progress(step)
        await anyio.sleep(0.02)
    return "waited"


@server.tool()
async def change(ctx: Context) -> str:
    """Says that something changed."""
    server.add_tool(lambda: "here", name="newcomer", description="New.")
    await ctx.notify_tools_changed()
    await ctx.notify_resource_updated("memo://one")
    await ctx.notify_prompts_changed()
    return "changed"


@server.resource("memo://one", mime_type="text/plain")
def one() -> str:
    """The first memo."""
    return "the first memo ✓"


@server.resource("memo://bytes", mime_type="image/png")
def some_bytes() -> bytes:
    """A picture, almost."""
    return b"\x89PNG"


@server.resource("memo://of/{day}")
def of_a_day(day: str) -> str:
    """The memo of a day."""
    return f"memo of {day}"


@server.prompt()
def greet(who: str, tone: str = "warm") -> str:
    """Say hello."""
    return f"Say hello to {who}."


@server.completion()
async def complete(ref, argument, context):
    return Completion(values=[name for name in ("Ada", "Alan") if name.startswith(argument.value)])


if __name__ == "__main__":
    server.run()
