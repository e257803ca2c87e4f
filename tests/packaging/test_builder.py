"""The notebook builder: two builds are the same bytes, and a difference does not slip through.

A sample source is built in a folder of its own. The kernel is real.
"""

import base64
import io
import json
from pathlib import Path

import nbformat
import pytest
from PIL import Image

from sources import build, cells, compare, tidy

HEADER = """\
# ---
# jupyter:
#   house: {cells: [1, 40], why: a sample}
# ---
"""
PROSE = "# %% [markdown]\n# # A title\n"
IMPORTS = "# %%\nimport json, sys, time\nfrom pathlib import Path\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "sources").mkdir()
    return tmp_path


def source(root: Path, *parts: str, name: str = "sample") -> None:
    file = root / "sources" / f"{name}.py"
    file.parent.mkdir(exist_ok=True)
    file.write_text("\n".join([HEADER, PROSE, IMPORTS, *parts]))


def text(root: Path, name: str = "sample") -> str:
    return (root / "notebooks" / f"{name}.ipynb").read_text()


def load(root: Path) -> nbformat.NotebookNode:
    return nbformat.reads(text(root), as_version=4)


def run(root: Path, *argv: str) -> int:
    return build.main([*argv], root=root)


def test_two_builds_are_the_same_bytes(root: Path) -> None:
    source(
        root,
        "# %%\nprint('one')\nprint('no', file=sys.stderr)\nprint('two')\n2 + 2\n",
        "# %%\nimport ipywidgets\nipywidgets.IntSlider(description='n')\n",
        "# %%\nfrom matplotlib import pyplot\npyplot.plot([1, 2]);\n",
        "# %%\nlist({'a', 'b', 'c'})\n",
    )
    assert run(root) == 0
    first = text(root)
    assert run(root) == 0
    assert text(root) == first
    assert run(root, "--check") == 0
    assert first.endswith("}\n")
    nb = load(root)
    assert [c.execution_count for c in nb.cells if c.cell_type == "code"] == [1, 2, 3, 4, 5]
    assert [(o.get("name"), o.get("text")) for o in nb.cells[2].outputs][:2] == [
        ("stdout", "one\ntwo\n"),
        ("stderr", "no\n"),
    ]
    assert "0" * 31 + "1" in first, "widget models are numbered"
    assert "timing" not in first and "iopub" not in first


def test_an_inserted_cell_changes_no_other_id() -> None:
    before = [PROSE, IMPORTS, "# %%\nprint(1)\n", "# %%\nprint(1)\n", '# %% id="mine"\n3\n']
    after = [PROSE, IMPORTS, "# %%\nnew = 1\n", *before[2:]]
    ids = [
        [cell.id for cell in cells.from_source("\n".join([HEADER, *parts]), "sample").cells]
        for parts in (before, after)
    ]
    assert len(set(ids[0])) == 5
    assert ids[0][4] == "mine"
    assert ids[1][:2] + ids[1][3:] == ids[0]


def test_a_source_of_the_same_text_in_another_notebook_has_other_ids() -> None:
    one, two = (cells.from_source("\n".join([HEADER, IMPORTS]), name) for name in ("a", "b"))
    assert one.cells[0].id != two.cells[0].id


def test_a_changed_output_is_found_although_the_source_is_the_same(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "notebooks").mkdir()
    (root / "notebooks" / "library.txt").write_text("old\n")
    source(root, "# %%\nprint(Path('library.txt').read_text())\n")
    assert run(root) == 0
    (root / "notebooks" / "library.txt").write_text("new\n")
    assert run(root, "--check") == 1
    said = capsys.readouterr().err
    assert "sample, cell 3:" in said and "-old" in said and "+new" in said
    assert "old" in text(root), "--check writes nothing"


def test_a_changed_source_an_orphan_and_an_unbuilt_notebook_are_found(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source(root, "# %%\nprint('a')\n")
    assert run(root) == 0
    source(root, "# %%\nprint('b')\n")
    (root / "notebooks" / "old.ipynb").write_text("{}")
    source(root, name="fresh")
    assert run(root, "--check") == 1
    said = capsys.readouterr().err
    assert "sample, source:" in said
    assert "old: has no source" in said
    assert "fresh: never built" in said


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("took 12.5 ms\n", "took   9 ms\n", True),
        ("1,307 tokens, 3.1e-05 s\n", "6 tokens, 2.0 s\n", True),
        ("took 12.5 ms\n", "took 12.5 s\n", False),
        ("a     ratio\n───── ─────\nx     2.0\n", "a ratio\n─ ─────────\nx 2.0 to 11\n", False),
        ("a     ratio\n───── ─────\nx     2.0\n", "a ratio\n─ ──────\nx 211.0\n", True),
        ("one 1\n", "one 1\ntwo 2\n", False),
        ("ratio 2.0\n", "ratio nan\n", False),
    ],
)
def test_a_measured_cell_keeps_its_shape(before: str, after: str, same: bool) -> None:
    def measured(text: str, tags: list[str]) -> nbformat.NotebookNode:
        output = nbformat.v4.new_output("stream", name="stdout", text=text)
        cell = nbformat.v4.new_code_cell("x", outputs=[output], metadata={"tags": tags}, id="x")
        return nbformat.v4.new_notebook(cells=[cell])

    tagged = [measured(text, ["measured"]) for text in (before, after)]
    untagged = [measured(text, []) for text in (before, after)]
    assert (compare.differences("n", *tagged) == []) is same
    assert compare.differences("n", *untagged), "a cell without the tag may not differ at all"


@pytest.mark.parametrize(
    ("pixel", "size", "same"),
    [
        ((100, 100, 110), (8, 8), True),
        ((100, 100, 200), (8, 8), False),
        ((100,) * 3, (8, 9), False),
    ],
)
def test_pictures_may_differ_by_a_shade(
    pixel: tuple[int, int, int], size: tuple[int, int], same: bool
) -> None:
    def shown(image: Image.Image) -> nbformat.NotebookNode:
        file = io.BytesIO()
        image.save(file, "PNG")
        data = {"image/png": base64.b64encode(file.getvalue()).decode()}
        output = nbformat.v4.new_output("display_data", data=data)
        return nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell("x", outputs=[output], id="x")]
        )

    grey, other = (Image.new("RGB", s, (100, 100, 100)) for s in ((8, 8), size))
    other.putpixel((3, 3), pixel)
    assert (compare.differences("n", shown(grey), shown(other)) == []) is same


def test_an_announced_exception_is_shown_without_colours_or_paths(root: Path) -> None:
    source(root, '# %% tags=["raises-exception"]\njson.loads("{")\n', "# %%\nprint('goes on')\n")
    assert run(root) == 0
    error = load(root).cells[2].outputs[0]
    assert error.ename == "JSONDecodeError"
    trace = "\n".join(error.traceback)
    assert "json/decoder.py" in trace
    assert "\x1b" not in trace and "/lib/python" not in trace
    assert "goes on" in text(root)


@pytest.mark.parametrize(
    ("cell", "complaint"),
    [
        ('# %% tags=["raises-exception"]\nprint("fine")\n', "raised nothing"),
        ("# %%\n1 / 0\n", "ZeroDivisionError"),
        ("# %%\nprint(Path.cwd())\n", "cell 3: "),
        ("# %%\nPath.home() / 'x'\n", "cell 3: "),
        ("# %%\nprint(sys.executable)\n", "cell 3: "),
        ("# %%\nprint('see /tmp/x')\n", "cell 3: /tmp"),
        ("# %%\n" + "x = 1\n" * 21, "21 lines of code"),
        ("# %%\n# %pip install requests\n", "installs nothing"),
        ("# %%\n!pip install requests\n", "installs nothing"),
        ('# %% id="twice"\n1\n\n# %% id="twice"\n2\n', "ids used twice"),
        ("# %%\n1\n" * 40, "42 cells, where 1 to 40"),
    ],
)
def test_what_must_not_be_built_is_not(
    root: Path, cell: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source(root, cell)
    assert run(root) == 1
    assert complaint in capsys.readouterr().err
    assert not (root / "notebooks" / "sample.ipynb").exists()


def test_the_first_code_cell_imports_and_the_usual_length_is_the_rule() -> None:
    with pytest.raises(cells.BuildError, match="first code cell"):
        cells.from_source(HEADER + "# %%\nx = 1\n", "sample")
    with pytest.raises(cells.BuildError, match="2 cells, where 20 to 40"):
        cells.from_source(PROSE + IMPORTS, "sample")
    with pytest.raises(cells.BuildError, match="a raw cell"):
        cells.from_source("# ---\n# title: x\n# ---\n" + IMPORTS, "sample")
    with pytest.raises(cells.BuildError, match="needs `cells` and `why`"):
        cells.from_source(HEADER.replace(", why: a sample", "") + IMPORTS, "sample")


def test_a_kernel_starts_clean(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    seen = "[os.environ.get(k) for k in ('PYTHONUNBUFFERED', 'PYTHONHASHSEED', 'COLUMNS')]"
    source(root, f"# %%\nimport os\nprint({seen})\nprint(Path.cwd().name)\n", name="ch26/01_x")
    assert run(root, "01_x") == 0
    assert "[None, '0', '120']" in text(root, "ch26/01_x")
    assert "ch26" in json.loads(text(root, "ch26/01_x"))["cells"][2]["outputs"][0]["text"][1]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ([], ["ch26/01_x", "ch26/02_y", "sample"]),
        (["ch26"], ["ch26/01_x", "ch26/02_y"]),
        (["02_y", "sample"], ["ch26/02_y", "sample"]),
        (["sources/ch26/01_x.py"], ["ch26/01_x"]),
        (["notebooks/ch26/01_x.ipynb"], ["ch26/01_x"]),
    ],
)
def test_notebooks_are_found_by_any_name(root: Path, asked: list[str], found: list[str]) -> None:
    (root / "sources" / "ch26").mkdir()
    for name in ("ch26/01_x", "ch26/02_y", "sample"):
        source(root, name=name)
    (root / "sources" / "helper.py").write_text('"""No notebook."""\n')
    assert build.find(root, asked) == found
    with pytest.raises(cells.BuildError, match="03_z"):
        build.find(root, ["03_z"])


def test_a_path_is_cut_whether_or_not_home_is_written_short(root: Path) -> None:
    home = Path.home() / "kit"
    for folder in (f"{home}", "~/kit"):
        assert (
            tidy.without_folders(f"File {folder}/mcp_bare/a.py:3", home) == "File mcp_bare/a.py:3"
        )
