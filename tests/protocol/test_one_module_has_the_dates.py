"""`revision` is the module to read when the next revision comes: no other one has a date."""

from __future__ import annotations

import re
from pathlib import Path

import mcp_types
import pytest
from mcp_types import jsonrpc as official
from mcp_types import methods, version

from mcp_bare import revision

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "mcp_bare").rglob("*.py"))
DATE = re.compile(r"20\d\d-\d\d-\d\d")


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_a_date_stands_in_revision_and_nowhere_else(module):
    found = DATE.findall(module.read_text(encoding="utf-8"))
    assert bool(found) == (module.name == "revision.py"), found


# --- what `revision` says is what the official types say ---


def test_the_versions_are_the_official_ones():
    assert list(revision.MODERN) == list(version.MODERN_PROTOCOL_VERSIONS)
    assert list(revision.LEGACY) == list(reversed(version.HANDSHAKE_PROTOCOL_VERSIONS))
    assert version.LATEST_MODERN_VERSION == revision.CURRENT


def test_the_codes_are_the_official_ones():
    for name in ("PARSE_ERROR", "INVALID_REQUEST", "METHOD_NOT_FOUND", "INVALID_PARAMS",
                 "INTERNAL_ERROR", "HEADER_MISMATCH", "MISSING_REQUIRED_CLIENT_CAPABILITY",
                 "UNSUPPORTED_PROTOCOL_VERSION"):  # fmt: skip
        assert getattr(revision, name) == getattr(official, name), name
    assert set(revision.CODE_NAMES) >= revision.MODERN_ONLY_CODES


def test_the_methods_are_the_official_ones():
    assert revision.CACHEABLE == methods.CACHEABLE_METHODS
    assert revision.MULTI_ROUND_TRIP == methods.INPUT_REQUIRED_METHODS
    modern = {method for method, of in methods.CLIENT_REQUESTS if of == revision.CURRENT}
    ours = {revision.DISCOVER, revision.LISTEN, "completion/complete"}
    assert modern == ours | revision.MULTI_ROUND_TRIP | set(revision.LISTS)
    sent = {method for method, of in methods.SERVER_NOTIFICATIONS if of == revision.CURRENT}
    ours = {revision.CANCELLED, revision.PROGRESS, revision.ACKNOWLEDGED, "notifications/message"}
    assert sent == ours | set(revision.FILTERS.values())


def test_the_filters_and_levels_are_the_official_ones():
    fields = mcp_types.SubscriptionFilter.model_fields.values()
    assert {field.alias for field in fields} == set(revision.FILTERS)
    assert set(mcp_types.LoggingLevel.__args__) == set(revision.LOG_LEVELS)
