"""Writing so that a power cut leaves the old file or the new one, and naming files after strangers.

Does not handle: what is in them.
"""

import hashlib
import os
import re
import tempfile
import unicodedata
from pathlib import Path

LONGEST = 40


def write(path: Path, content: str | bytes) -> None:
    """Replace `path` in one step; its folder is made where it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def safe_name(name: str) -> str:
    """A file name that any system takes, and that no other name gets.

    safe_name("Ștefan Popa/01 frame.ipynb") -> "stefan-popa-01-frame-9f86d081"
    """
    flat = unicodedata.normalize("NFKD", name.removesuffix(".ipynb"))
    words = re.findall(r"[a-z0-9]+", flat.encode("ascii", "ignore").decode().lower())
    digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return "-".join([*words, digest])[-LONGEST - 9 :].lstrip("-")
