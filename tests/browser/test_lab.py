"""The helpers tell a notebook that ran from one that failed."""

import pytest

pytestmark = pytest.mark.timeout(180)


def test_a_cell_that_fails_is_told(lab, open_notebook):
    notebook = open_notebook(lab.write("fails.ipynb", "print('before')", "1 / 0"))
    with pytest.raises(AssertionError, match="ZeroDivisionError: division by zero"):
        notebook.run_all()
    assert notebook.execute("print('the kernel is still there')") == "the kernel is still there\n"
    with pytest.raises(RuntimeError, match="NameError"):
        notebook.execute("nothing_of_that_name")
