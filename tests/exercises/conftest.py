"""The exercises of this repository, read once."""

import pytest

from sources import build, exercise
from workbench import node

ROOT = node.ROOT
NAMES = [name for name in build.chosen(ROOT) if exercise.is_exercise(name)]
READ = {}


def read(name: str) -> exercise.Exercise:
    """One exercise's source, taken apart."""
    if name not in READ:
        source = ROOT / "sources" / f"{name}.py"
        READ[name] = exercise.read(source.read_text(encoding="utf-8"), name)
    return READ[name]


@pytest.fixture(params=NAMES)
def made(request: pytest.FixtureRequest) -> exercise.Exercise:
    return read(request.param)
