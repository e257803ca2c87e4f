"""What the official Python SDK makes of annotations, and what it loads: one JSON object.

It runs on any mcp 2.x, and imports nothing of ours: what is loaded is what the SDK loads.
"""

import importlib
import inspect
import json
import pkgutil
import sys
import typing
from importlib import metadata

import mcp_types
from mcp.server import MCPServer
from pydantic import BaseModel
from typing_extensions import TypedDict

server = MCPServer("facts", version="1.0.0")
FIELDS = ("id", "title", "severity", "cause", "team", "opened", "closed", "owner", "link", "note")


def incident(count: int) -> type:
    return TypedDict("Incident", dict.fromkeys(FIELDS[:count], str))


def schema_of(returns: object, **options: object) -> dict | None:
    """The output schema of a tool with this return annotation."""

    def tool(id: str):
        return {}

    tool.__annotations__["return"] = returns
    if returns is inspect.Signature.empty:
        del tool.__annotations__["return"]
    made = MCPServer("one")
    made.tool(**options)(tool)
    return made._tool_manager.list_tools()[0].output_schema


def with_typing() -> dict:
    """What becomes of annotations that are built on a TypedDict of typing's own."""

    class Incident(typing.TypedDict):
        id: str

    found = {}
    for name, returns in (("-> Incident", Incident), ("-> list[Incident]", list[Incident])):
        try:
            found[name] = "works" if schema_of(returns) else "no schema"
        except Exception as refusal:
            found[name] = f"refused: {str(refusal).partition(chr(10))[0]}"
    return found


def renamed() -> dict:
    try:
        importlib.import_module("mcp.server.fastmcp")
    except ImportError as refusal:
        return {"raises": type(refusal).__name__, "says": str(refusal)}
    return {"raises": None, "says": ""}


def wire_classes() -> dict:
    """How many models each module of the wire types has."""
    found = {}
    for each in pkgutil.iter_modules(mcp_types.__path__):
        module = importlib.import_module(f"mcp_types.{each.name}")
        models = [one for _, one in inspect.getmembers(module, inspect.isclass)]
        own = {m for m in models if issubclass(m, BaseModel) and m.__module__ == module.__name__}
        found |= {each.name: len(own)} if own else {}
    return found


def loaded() -> list[str]:
    """The distributions of which a module is loaded."""
    owners = metadata.packages_distributions()
    tops = {name.partition(".")[0] for name in list(sys.modules)}
    return sorted(
        {owner.lower().replace("_", "-") for top in tops for owner in owners.get(top, ())}
    )


facts = {
    "loaded": loaded(),
    "typing.TypedDict": with_typing(),
    "by fields": [schema_of(incident(count)) for count in range(1, len(FIELDS) + 1)],
    "by annotation": {
        "-> Incident": schema_of(incident(4)),
        "-> list[Incident]": schema_of(list[incident(4)]),
        "-> str": schema_of(str),
        "-> dict[str, int]": schema_of(dict[str, int]),
        "no annotation": schema_of(inspect.Signature.empty),
    },
    "turned off": schema_of(incident(4), structured_output=False),
    "mcp.server.fastmcp": renamed(),
    "wire classes": wire_classes(),
}
print(json.dumps(facts))
