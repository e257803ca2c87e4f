"""What `uv run jupyter lab` opens with; installing the project puts this into the environment."""

import sys
from pathlib import Path

from workbench import node

c = get_config()  # noqa: F821

if Path.cwd() == node.ROOT:
    c.LabApp.default_url = "/lab/tree/notebooks/00_start_here.ipynb"
# A container's only user is often root.
c.ServerApp.allow_root = True
# Kernels talk in the clear by default, and each says so in the terminal.
c.KernelManager.transport_encryption = "auto"
# Nothing asks the network: no look for a newer JupyterLab, no extension catalogue, no news.
c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
c.LabApp.extension_manager = "readonly"
c.LabApp.news_url = None


# One asks each newcomer about news, the other is for teachers; the tests are what needs nbgrader.
UNWANTED = ["@jupyterlab/apputils-extension:announcements", "@jupyter/nbgrader"]


def without_unwanted(_handler, page):
    """The page's settings, with those parts left out."""
    return {**page, "disabledExtensions": [*page["disabledExtensions"], *UNWANTED]}


c.ServerApp.tornado_settings = {"page_config_hook": without_unwanted}

for place in node.PLACES:
    try:
        node.ensure(place)
    except node.NodeUnavailable as trouble:
        why = f"The npm parts in {place.name} are missing, so some cells show recordings: {trouble}"
        print(why, file=sys.stderr)
