"""The page that lists the toolkit's modules says what is so."""

import pytest

from workbench import module_page


def test_it_is_up_to_date():
    written = module_page.PAGE.read_text(encoding="utf-8") if module_page.PAGE.exists() else ""
    assert written == module_page.page(), f"run `{module_page.COMMAND}` and commit what it writes"


def test_every_module_stands_there_once():
    listed = [each.name for group in module_page.groups() for each in group.modules]
    assert sorted(listed) == sorted(module_page.files())
    assert all(each.purpose for group in module_page.groups() for each in group.modules)


def test_a_module_in_no_group_is_an_error(monkeypatch):
    files = {**module_page.files(), "new_idea": module_page.PACKAGE / "framing.py"}
    monkeypatch.setattr(module_page, "files", lambda: files)
    with pytest.raises(ValueError, match="new_idea; name each module in one group there"):
        module_page.groups()


def test_a_module_that_is_gone_is_an_error(monkeypatch):
    files = {name: path for name, path in module_page.files().items() if name != "framing"}
    monkeypatch.setattr(module_page, "files", lambda: files)
    with pytest.raises(ValueError, match="disagree about"):
        module_page.groups()


CODE = '''"""One idea: two lines

of it."""

# why
import os  # and where


def f():
    """What it does."""
    return """a text
that is code"""
'''


def test_lines_of_code_are_counted():
    """The import, the def, and two lines of a string that is no docstring."""
    assert module_page.code_lines(CODE) == 4


@pytest.mark.parametrize(
    ("docstring", "purpose"),
    [
        ("One idea. Another one.\n\nMore.", "One idea"),
        ("Does it fit? Yes.\n", "Does it fit?"),
        ("The face; what is behind it:\n\n    a  b", "The face; what is behind it"),
        ("Spread over\ntwo lines.\n", "Spread over two lines"),
        ("Like `a.b | c`, e.g. so.", "Like `a.b | c`, e.g. so"),
    ],
)
def test_a_purpose_is_the_first_sentence(docstring, purpose):
    assert module_page.purpose(docstring) == purpose
