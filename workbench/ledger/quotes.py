"""Find a quoted sentence on the pages it is quoted from, without keeping the sentence.

Of each quote the ledger keeps two SHA-256 sums and a number (`quotes.txt`): the sum of its first
three words, the sum of all its words, and how many they are. With the text at hand, a window of
that length slides over the words of every page; where the sums agree, the sentence stands. An
altered word, and they do not.

Words are letters and digits only: line breaks, Markdown, MDX tags and the targets of links are
not part of a sentence, capitals are.

    python -m workbench.ledger.quotes 26-01 spec "The sentence itself ..."     a line for quotes.txt
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

START = 3  # words in the sum that is looked for first
TABLE = Path(__file__).with_name("quotes.txt")
_NOT_TEXT = re.compile(r"\]\([^)]*\)|\]\[[^\]]*\]|\{/\*.*?\*/\}|<[^<>]*>", re.DOTALL)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True)
class Source:
    """A text that is quoted: where its pages are in a checkout, and how to get one.

    With `package`, the text is that of an installed Python package, and no checkout is due.
    """

    name: str
    pages: tuple[str, ...]
    get: str
    package: str = ""

    def command(self, id: str) -> str:
        """The one line that gets the text and checks the quotes of this claim."""
        if self.package:
            return self.get
        return f"{self.get} && python -m workbench ledger {id} --{self.name} {self.name}-text"


def _clone(repository: str, name: str) -> str:
    return f"git clone --depth 1 https://github.com/{repository} {name}-text"


SOURCES = {
    source.name: source
    for source in (
        Source(
            "spec",
            (
                "docs/specification/2026-07-28/**/*.mdx",
                "docs/docs/2026-07-28/develop/build-server.mdx",
                "docs/docs/2026-07-28/learn/versioning.mdx",
                "docs/docs/2026-07-28/sdk.mdx",
            ),
            _clone("modelcontextprotocol/modelcontextprotocol", "spec"),
        ),
        Source("a2a", ("docs/topics/a2a-and-mcp.md",), _clone("a2aproject/A2A", "a2a")),
        Source("acp", ("**/*.md", "**/*.mdx"), _clone("i-am-bee/acp", "acp")),
        Source("sdk", ("server/mcpserver/exceptions.py",), "uv sync", package="mcp"),
    )
}


@dataclass(frozen=True)
class Quote:
    """A sentence as its sums."""

    source: str
    length: int
    start: str
    whole: str


def words(text: str) -> list[str]:
    """The words of a page: words("**No** [link](x), _it's_") -> ["No", "link", "it's"]"""
    return [word.replace("’", "'") for word in _WORD.findall(_NOT_TEXT.sub(" ", text))]


def take(source: str, sentence: str) -> Quote:
    """Turn a sentence into its sums. Raises ValueError for one that is too short to find."""
    found = words(sentence)
    if len(found) < START:
        raise ValueError(f"{sentence!r} has {len(found)} words; at least {START} are due")
    return Quote(source, len(found), _sum(found[:START])[:12], _sum(found))


class Pages:
    """The pages of one source in a folder."""

    def __init__(self, source: Source, folder: Path):
        self.source, self.folder = source, folder

    def find(self, quote: Quote) -> str | None:
        """The page on which the sentence stands, by its path, or None."""
        for page, at in self._starts.get(quote.start, ()):
            window = self._words[page][at : at + quote.length]
            if len(window) == quote.length and _sum(window) == quote.whole:
                return page
        return None

    def files(self) -> list[Path]:
        """The pages there are; none, if this is no checkout of that source."""
        return sorted({file for glob in self.source.pages for file in self.folder.glob(glob)})

    def lacks(self) -> list[str]:
        """Which pages a whole checkout would have, and this one does not."""
        return [glob for glob in self.source.pages if not any(self.folder.glob(glob))]

    @cached_property
    def _words(self) -> dict[str, list[str]]:
        """The words by page."""
        return {
            file.relative_to(self.folder).as_posix(): words(file.read_text("utf-8"))
            for file in self.files()
        }

    @cached_property
    def _starts(self) -> dict[str, list[tuple[str, int]]]:
        """Where each sum of three words begins."""
        found: dict[str, list[tuple[str, int]]] = {}
        for page, all_words in self._words.items():
            for at in range(len(all_words) - START + 1):
                found.setdefault(_sum(all_words[at : at + START])[:12], []).append((page, at))
        return found


def load(path: Path = TABLE) -> Mapping[str, list[Quote]]:
    """The quotes of every claim."""
    found: dict[str, list[Quote]] = {}
    for id, quote in _rows(path):
        found.setdefault(id, []).append(quote)
    return found


def _rows(path: Path) -> Iterator[tuple[str, Quote]]:
    for line in path.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            id, source, length, start, whole = line.split()
            yield id, Quote(source, int(length), start, whole)


def _sum(some: list[str]) -> str:
    return hashlib.sha256(" ".join(some).encode()).hexdigest()


if __name__ == "__main__":
    claim_id, source_name, sentence = sys.argv[1:]
    quote = take(source_name, sentence)
    print(claim_id, quote.source, quote.length, quote.start, quote.whole)
