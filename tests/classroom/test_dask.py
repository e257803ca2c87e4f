"""The same function over a Dask cluster, in several threads of each worker process; one process is
killed in the middle."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.classroom import tiny
from tests.classroom.conftest import Tiny, classroom, hand_in, results, wait_for

CLASS = 24
CLUSTER = """
import sys
from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster("127.0.0.1:0", n_workers=2, threads_per_worker=2, processes=True,
                      dashboard_address=None, silence_logs="ERROR") as cluster:
        pids = [worker.pid for worker in cluster.workers.values()]
        print(cluster.scheduler_address, *pids, flush=True)
        sys.stdin.read()
"""


@pytest.fixture
def cluster(repo: Path, tmp_path: Path) -> Iterator[tuple[str, list[int]]]:
    """A local cluster: its address, and the numbers of its two worker processes."""
    (tmp_path / "cluster.py").write_text(CLUSTER)
    with subprocess.Popen(
        [sys.executable, tmp_path / "cluster.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(repo)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdin and running.stdout
        address, *pids = running.stdout.readline().split()
        yield address, list(map(int, pids))
        running.stdin.close()
        running.wait(30)


def test_a_worker_that_is_killed_loses_nothing(
    cluster: tuple[str, list[int]],
    small: Tiny,
    bubblewrap: str,
    seed_file: Path,
    tmp_path: Path,
    repo: Path,
) -> None:
    address, pids = cluster
    for number in range(CLASS):
        hand_in(tmp_path / f"in/{number:02}.ipynb", tiny.notebook())
    hand_in(tmp_path / "in/empty.ipynb", b"")
    options = ("--checks", small.checks, "--seed", seed_file, "--dask", address)
    command = [sys.executable, "-m", "classroom", "grade", "in", "out", *map(str, options)]
    env = {**os.environ, "PYTHONPATH": str(repo)}
    with subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE) as running:
        assert running.stdout
        wait_for(4, tmp_path / "out", running)
        assert len(list(tmp_path.glob("out/results/*.json"))) < CLASS
        psutil.Process(pids[0]).kill()
        said = running.stdout.read().decode()
    assert f"{CLASS + 1} submissions: {CLASS} graded, 1 refused" in said
    found = results(tmp_path / "out")
    assert len(found) == CLASS + 1
    assert {result.score for name, result in found.items() if name != "empty.ipynb"} == {7}
    classroom("grade", "in", "here", *options[:4], cwd=tmp_path)
    assert results(tmp_path / "here") == found  # the same function, the same results


def test_nothing_imports_dask_without_the_option(repo: Path) -> None:
    program = "import sys, classroom.__main__; print('distributed' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=repo, check=True, capture_output=True, timeout=60
    )
    assert done.stdout == b"False\n"
