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


def without_news(_handler, page):
    """Leave out the part that asks each newcomer whether they want news."""
    news = "@jupyterlab/apputils-extension:announcements"
    return {**page, "disabledExtensions": [*page["disabledExtensions"], news]}


c.ServerApp.tornado_settings = {"page_config_hook": without_news}

try:
    node.ensure()
except node.NodeUnavailable as trouble:
    print(f"The npm parts are missing, so some cells show recordings: {trouble}", file=sys.stderr)
