"""A small exercise, whole, for the tests of the builder; and a root folder to build it in."""

from pathlib import Path

HEADER = """\
# ---
# jupyter:
#   house: {cells: [1, 40], why: a sample}
# ---

"""
PARTS = {
    "title": "# %% [markdown]\n# # Exercise 9. A sample\n",
    "imports": "# %%\nimport json\n\nfrom workbench.checks import check, tally\n",
    "given": '# %% role="given"\n# Given: yours.\nSIZE = 2  # or 3, 4\nWORD = "a"\n',
    "stage": '# %% stage="double"\n# Stage double: twice.\ndef double(value):\n'
    "    ### BEGIN SOLUTION\n    return value + value * (SIZE - 1)\n    ### END SOLUTION\n",
    "wrong": '# %% wrong="double" says="once"\n# Stage double: once.\ndef double(value):\n'
    "    return value\n",
    "wrong2": '# %% wrong="double" says="thrice"\n# Stage double: thrice.\ndef double(value):\n'
    "    return 3 * value\n",
    "check": '# %% check="double" points=2\n@check("double", points=2)\ndef doubled(it, value=5):\n'
    '    it.expect(it.call("double", value) > value, sent=1, clause="x", hint="y")\n',
    "hidden": '# %% hidden="double"\ndef hidden(it, rng):\n    doubled(it, rng.randint(6, 9999))\n',
    "written": '# %% [markdown] written="why" points=1.5\n# ## Why?\n# ### BEGIN SOLUTION\n'
    "# Because twice one is two, always.\n# ### END SOLUTION\n",
    "tally": "# %%\ntally()\n",
}


def text(**changed: str) -> str:
    """The sample with some of its cells changed; "" leaves one out."""
    return HEADER + "\n".join(part for part in {**PARTS, **changed}.values() if part)


def put(root: Path, name: str = "ch26/09_sample", **changed: str) -> Path:
    file = root / "sources" / "exercises" / f"{name}.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text(**changed), encoding="utf-8")
    return file
