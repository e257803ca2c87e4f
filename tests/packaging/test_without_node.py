"""With Node taken away every notebook of chapter 26 runs, and says in a line what it shows instead.

The environment is a real one without Node (`elsewhere`).
"""

import sys

import pytest

from tests.packaging import elsewhere
from workbench import course, node

NEEDS_NODE = {"ch26/03_which_era_is_this", "ch26/08_what_a_server_costs"}
LABEL = "Node is not here: this is the tape recorded on "
CHAPTER = [path for path, _, _ in course.COURSE if not path.startswith("ch27/")]

pytestmark = pytest.mark.timeout(elsewhere.SECONDS + 30)


@pytest.fixture(scope="module")
def without_node(tmp_path_factory: pytest.TempPathFactory) -> dict[str, elsewhere.Ran]:
    return elsewhere.run(tmp_path_factory.mktemp("no_node"), node.ROOT, CHAPTER)


@pytest.mark.parametrize("path", CHAPTER)
def test_a_notebook_runs_to_its_end(without_node, path):
    ran = without_node[path]
    assert not ran.complaint
    assert (LABEL in ran.printed) == (path in NEEDS_NODE), ran.printed[:2000]
    assert sys.executable not in ran.text
