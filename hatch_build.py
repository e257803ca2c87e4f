"""Build hook: an editable install (`uv run`, `pip install -e .`) brings node_modules along.

It does nothing for a wheel, and it never fails the Python install: whoever needs Node's parts
later calls `workbench.node.ensure` again, and says what is missing if that fails.
"""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def load(path: Path) -> ModuleType:
    """Import one file by its path: the build environment holds none of the project's packages."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class NodeParts(BuildHookInterface):
    """Install the npm parts into the source tree."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Run before the build; `version` is "editable" or "standard"."""
        if version != "editable":
            return
        node = load(Path(self.root, "workbench", "node.py"))
        for place in node.PLACES:
            try:
                node.ensure(place)
            except node.NodeUnavailable as trouble:
                self.app.display_warning(f"The npm parts in {place} are not installed: {trouble}")
