"""`python -m workbench modules`: write the page that lists the toolkit's modules.

Groups and order are those of the package's own docstring, purposes are the first sentences of the
modules' docstrings, and lines are counted. A module that no group names is an error, not a row at
the end: whoever adds one says where it is read.

Does not handle: whether a purpose is well said.
"""

import ast
import io
import re
import tokenize
from dataclasses import dataclass
from pathlib import Path

from workbench import node

PACKAGE = node.ROOT / "mcp_bare"
PAGE = PACKAGE / "README.md"
COMMAND = "python -m workbench modules"
LINES_A_MINUTE = 30
"""Of code and docstrings, read by somebody who wants to understand them: an assumption."""
EVENING_H = 3

HEAD = f"""# The modules of mcp_bare

Written by `{COMMAND}`, from the modules themselves; in reading order.
*Lines* is all of a file, *code* leaves out blank lines, comments and docstrings.
"""


@dataclass(frozen=True)
class Module:
    """One file: its name without `mcp_bare.`, its purpose, its lines, those of them with code."""

    name: str
    purpose: str
    lines: int
    code: int


@dataclass(frozen=True)
class Group:
    """One line of the package's docstring: what is read together, and why."""

    title: str
    modules: tuple[Module, ...]


def groups() -> list[Group]:
    """Every module of the toolkit, in reading order. Raises ValueError for one in no group."""
    named = order()
    found = {name: module(path) for name, path in files().items()}
    where = {name: title for title, names in named for name in names}
    lost = sorted(set(found) - set(where)) + sorted(set(where) - set(found))
    if lost:
        raise ValueError(
            f"the docstring of mcp_bare/__init__.py and the folder disagree about: "
            f"{', '.join(lost)}; name each module in one group there"
        )
    return [Group(title, tuple(found[name] for name in names)) for title, names in named]


def order() -> list[tuple[str, list[str]]]:
    """(title, names), as the package's docstring has them; a face brings what it lists itself."""
    known = files()
    found: list[tuple[str, list[str]]] = []
    for line in _docstring(PACKAGE / "__init__.py").splitlines():
        title, names = line[4:20].strip(), _names(line[20:], known)
        if not line.startswith("    ") or not names:
            continue
        if title:
            found.append((title, []))
        for name in names:
            found[-1][1].extend([name, *_behind(name, known)])
    return found


def _behind(name: str, known: dict[str, Path]) -> list[str]:
    """The modules that stand behind a face: those that its docstring puts into a table."""
    if name not in ("streamable_http", "auth", "exam"):
        return []
    inside = f"{name}." if known[name].name == "__init__.py" else ""
    listed = []
    for line in _docstring(known[name]).splitlines():
        if line.startswith("    "):
            listed += _names(line[4:], known, inside) or _names(line[20:], known, inside)
    return [each for each in listed if each != name]


def _names(text: str, known: dict[str, Path], inside: str = "") -> list[str]:
    """The modules that a line begins with: "host, trust   many servers" -> host and trust."""
    found = []
    for word in re.findall(r"[^\s,]+,?", text):
        if inside + word.rstrip(",") not in known:
            break
        found.append(inside + word.rstrip(","))
        if not word.endswith(","):
            break
    return found


def files() -> dict[str, Path]:
    """Every module of the toolkit, by its name without the package's: "auth.tokens"."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        *above, last = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(above if last == "__init__" else [*above, last])
        if name:
            found[name] = path
    return found


def module(path: Path) -> Module:
    """What the page says of one file."""
    *above, last = path.relative_to(PACKAGE).with_suffix("").parts
    name = ".".join(above if last == "__init__" else [*above, last])
    text = path.read_text(encoding="utf-8")
    return Module(name, purpose(_docstring(path)), len(text.splitlines()), code_lines(text))


def purpose(docstring: str) -> str:
    """Its first sentence, on one line."""
    text = " ".join(docstring.strip().split("\n\n")[0].split())
    sentence = re.match(r".*?[.?!](?=\s+[A-Z`\"]|$)", text)
    return (sentence[0] if sentence else text).rstrip(":.")


def code_lines(text: str) -> int:
    """Lines that hold a token of the language; a docstring is a string that stands alone."""
    told: set[int] = set()
    for node_ in ast.walk(ast.parse(text)):
        if isinstance(node_, ast.Expr) and isinstance(node_.value, ast.Constant):
            told |= set(range(node_.lineno, (node_.end_lineno or 0) + 1))
    silent = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
              tokenize.ENDMARKER)  # fmt: skip
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in silent:
            held |= set(range(token.start[0], token.end[0] + 1))
    return len(held - told)


def page() -> str:
    """The whole page, as Markdown."""
    found = groups()
    parts = [HEAD, _totals(found)]
    for group in found:
        rows = [
            f"| [{each.name}]({_link(each.name)}) | {each.lines} | {each.code} "
            f"| {_cell(each.purpose)} |"
            for each in group.modules
        ]
        parts.append(
            "\n".join(
                [f"## {group.title}", "", "| module | lines | code | what it is for |",
                 "|---|---:|---:|---|", *rows, ""]
            )
        )  # fmt: skip
    return "\n".join(parts)


def _totals(found: list[Group]) -> str:
    rows, so_far, evening = [], 0, ""
    for group in found:
        lines = sum(each.lines for each in group.modules)
        so_far += lines
        evening = group.title if so_far <= EVENING_H * 60 * LINES_A_MINUTE else evening
        rows.append(
            f"| {group.title} | {len(group.modules)} | {lines:,} | "
            f"{sum(each.code for each in group.modules):,} | {_time(so_far)} |"
        )
    modules = [each for group in found for each in group.modules]
    rows.append(
        f"| **all** | {len(modules)} | {sum(each.lines for each in modules):,} | "
        f"{sum(each.code for each in modules):,} | |"
    )
    return "\n".join(
        ["| group | modules | lines | code | read by |", "|---|---:|---:|---:|---:|", *rows, "",
         "*Read by* is the time from the first line to the end of the group, at",
         f"{LINES_A_MINUTE} lines a minute. Nobody has been timed: the rate is an assumption, and",
         f"yours will be another. By it, {EVENING_H} hours of an evening end after *{evening}*.",
         ""]
    )  # fmt: skip


def _time(lines: int) -> str:
    minutes = round(lines / LINES_A_MINUTE / 5) * 5
    return f"{minutes // 60} h {minutes % 60:02}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _link(name: str) -> str:
    path = files()[name].relative_to(PACKAGE)
    return path.as_posix()


def _docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")), clean=False) or ""


def write() -> str:
    """Write the page; returns its path in the repository."""
    PAGE.write_text(page(), encoding="utf-8")
    return PAGE.relative_to(node.ROOT).as_posix()
