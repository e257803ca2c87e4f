"""The learner's process: it runs their cells, then does as the judge says, and talks over a pipe.

    python -I -S inside.py ROOT       (of this repository's packages it can import PACKAGES only)

The first line in holds the cells; before and after each one a line goes out. Then each line in is
a command: `call` a name, or `serve` one. To serve, the learner's code gets the raw standard input
and output, and this protocol is over. Until then what they print goes to stderr.

It knows no check, and what it says is the learner's word: their code can write on this pipe as
well. So the judge believes nothing here but that these bytes came. It does not guard the machine
either; the command that starts it may (a sandbox).
"""

import binascii
import importlib.machinery
import itertools
import json
import math
import os
import sys
import types

dumps, loads = json.dumps, json.loads  # ours, also where a learner's code patches the module's
PACKAGES = ("mcp_bare", "toy_servers")
CUT = 2000
ITEMS = 1000
SOURCES = {}
"""The cells as `linecache` wants them, so that an error shows its line."""


class Packages:
    """Finds the packages that a learner's code may import, and nothing else beside them."""

    def __init__(self, root):
        self.root = root

    def find_spec(self, name, path=None, target=None):
        if path is None and name in PACKAGES:
            return importlib.machinery.PathFinder.find_spec(name, [self.root])
        return None


class Wire:
    """The real standard input and output, out of reach of a stray print."""

    def __init__(self):
        self.source, self.sink = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        self.kept = b""

    def read(self):
        """The next line as a value; None at the end of input."""
        while b"\n" not in self.kept:
            chunk = os.read(self.source, 65536)
            if not chunk:
                return None
            self.kept += chunk
        line, _, self.kept = self.kept.partition(b"\n")
        return loads(line)

    def tell(self, **message):
        data = dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(self.sink, data) :]

    def give_back(self):
        """Make this pipe standard input and output again, with nothing buffered."""
        os.dup2(self.source, 0)
        os.dup2(self.sink, 1)
        os.close(self.source)
        os.close(self.sink)
        sys.stdin = open(0, encoding="utf-8", newline="\n", closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", newline="\n", closefd=False)  # noqa: SIM115
        # As in any process: who takes `sys.stdout` for something else does not close the pipe.
        sys.__stdin__, sys.__stdout__ = sys.stdin, sys.stdout


# --- values ---


def encode(value):
    """A value as JSON: bytes and other keys are tagged, and what JSON cannot say is told as such.

    encode(b"\\n") -> {"$bytes": "Cg=="}
    """
    try:
        return _encode(value)
    except RecursionError:
        return _strange(value)


def decode(value):
    """What `encode` was given; a `Strange` where that was more than JSON can say."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((tag, inner),) = value.items()
        if tag == "$bytes":
            return binascii.a2b_base64(inner)
        if tag == "$dict":
            return {_key(decode(key)): decode(item) for key, item in inner}
        if tag == "$strange":
            return Strange(str(inner["type"]), str(inner["text"]))
    return {key: decode(item) for key, item in value.items()}


class Strange:
    """Stands in for a value that is not JSON: the name of its type, and how it prints."""

    def __init__(self, type_name, text):
        self.type, self.text = type_name, text

    def __repr__(self):
        return f"a {self.type}: {self.text}"


def _encode(value):
    if value is None or type(value) in (bool, str) or (type(value) is int and abs(value) < 10**300):
        return value
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        return {"$bytes": binascii.b2a_base64(bytes(value), newline=False).decode()}
    if isinstance(value, list | tuple):
        return [_encode(item) for item in value]
    if isinstance(value, types.GeneratorType | map | filter | zip):
        return [_encode(item) for item in itertools.islice(value, ITEMS)]
    if isinstance(value, dict):
        if all(type(key) is str and not key.startswith("$") for key in value):
            return {key: _encode(item) for key, item in value.items()}
        return {"$dict": [[_encode(key), _encode(item)] for key, item in value.items()]}
    if isinstance(value, str):
        return str.__str__(value)
    return _strange(value)


def _strange(value):
    return {"$strange": {"type": type(value).__name__, "text": _safely(repr, value)}}


def _key(key):
    try:
        hash(key)
    except TypeError:
        return repr(key)
    return key


def _safely(describe, value):
    """A learner's own `__repr__` may raise, or say far too much."""
    try:
        return describe(value)[:CUT]
    except BaseException as trouble:
        return f"({type(trouble).__name__} while it was printed)"


# --- the learner's code ---


def run_cell(cell, namespace):
    """Execute one cell; return the trouble it had, or None."""
    file = f"<{cell['label']}>"
    lines = cell["source"].splitlines(keepends=True)
    SOURCES[file] = (len(cell["source"]), None, lines, file)
    try:
        exec(compile(cell["source"], file, "exec"), namespace)
    except BaseException as trouble:  # SystemExit as well: the next cell still runs
        return describe(trouble)
    return None


def describe(trouble):
    """An exception as a dict: its types, its words, and the learner's line that it came from."""
    import linecache  # not at the start: most processes never need them
    import traceback

    where = line = None
    if isinstance(trouble, SyntaxError):
        where, line = trouble.lineno, (trouble.text or "").strip()
    linecache.cache.update(SOURCES)
    for frame in traceback.extract_tb(trouble.__traceback__):
        if frame.filename.startswith("<") and frame.line:
            where, line = frame.lineno, frame.line
    found = {
        "type": type(trouble).__name__,
        "types": [each.__name__ for each in type(trouble).__mro__],
        "message": _safely(str, trouble),
        "where": where,
        "line": line,
    }
    for name in ("code", "data"):  # of a JSON-RPC error
        if name in getattr(trouble, "__dict__", {}) or hasattr(type(trouble), name):
            found[name] = encode(getattr(trouble, name, None))
    return found


def resolve(name, namespace, kept):
    """Find "server" or "box.add"; raise KeyError with the part that does not exist."""
    first, *rest = name.split(".")
    scope = kept if first in kept else namespace
    if first not in scope:
        raise KeyError(first)
    found = scope[first]
    for part in rest:
        if not hasattr(found, part):
            raise KeyError(part)
        found = getattr(found, part)
    return found


def call(command, namespace, kept):
    """Obey one `call`: the value, or the error, as the line that goes back."""
    try:
        called = resolve(command["name"], namespace, kept)
    except KeyError as missing:
        return {"missing": missing.args[0]}
    try:
        if not command["is_call"]:
            return {"value": encode(called)}
        value = called(*decode(command["args"]), **decode(command["options"]))
        if isinstance(value, types.CoroutineType):
            import asyncio

            value = asyncio.run(value)
        if command["keep"]:
            kept[command["keep"]] = value
            return {"value": None}
        return {"value": encode(value)}
    except BaseException as trouble:
        return {"error": describe(trouble)}


def serve(command, namespace, kept, wire):
    """Hand the pipe over: to a server object, or to a function of no or of two arguments."""
    try:
        served = resolve(command["name"], namespace, kept)
    except KeyError as missing:
        wire.tell(missing=missing.args[0])
        return
    wire.tell(serving=command["name"])
    wire.give_back()
    if not callable(served) and hasattr(served, "handle"):
        from mcp_bare import stdio

        stdio.serve(served)
    elif takes_pipes(served):
        served(sys.stdin.buffer, sys.stdout.buffer, *decode(command["args"]))
    else:
        served(*decode(command["args"]))
    sys.stdout.flush()


def takes_pipes(function):
    """Whether its first two parameters are called `stdin` and `stdout`."""
    if isinstance(function, types.FunctionType):
        code = function.__code__
        return code.co_varnames[: code.co_argcount][:2] == ("stdin", "stdout")
    import inspect  # takes longer than the rest of the start

    try:
        return list(inspect.signature(function).parameters)[:2] == ["stdin", "stdout"]
    except (TypeError, ValueError):
        return False


def main():
    sys.meta_path.append(Packages(sys.argv[1]))
    wire = Wire()
    wire.tell(hello=1)
    first = wire.read()
    if first is None:
        return
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    namespace, kept = vars(module), {}
    for number, cell in enumerate(first["cells"]):
        wire.tell(began=number)
        wire.tell(ended=number, error=run_cell(cell, namespace))
    while (command := wire.read()) is not None:
        if command["do"] == "serve":
            serve(command, namespace, kept, wire)
            return
        wire.tell(id=command["id"], **call(command, namespace, kept))


if __name__ == "__main__":
    main()
