"""The same pure function over a Dask cluster: `python -m classroom grade IN OUT --dask ADDRESS`.

The bytes of a submission travel with the job, so that the machines need no shared disk; each needs
this repository, bubblewrap and the same check sets. A worker that dies loses nothing: the scheduler
gives what it held to another.

Does not handle: starting a cluster. Nothing but the option imports Dask.
"""

from collections.abc import Iterator

from classroom.grade import Exam, grade
from classroom.result import Result
from classroom.roll import TRIES, Engine, Job, lost
from classroom.submission import MAX_BYTES

PATIENCE = "10s"


class NoCluster(RuntimeError):
    """Dask is not installed, or nobody answers at the address."""


def spread(address: str) -> Engine:
    """An engine on the cluster whose scheduler listens at `address`. Raises NoCluster."""
    try:
        import distributed
    except ImportError as trouble:
        raise NoCluster(f"Dask is not installed ({trouble}); `uv sync --group dask`") from None

    def engine(jobs: list[Job], exam: Exam) -> Iterator[tuple[Job, Result]]:
        try:
            client = distributed.Client(address, timeout=PATIENCE)
        except (OSError, ValueError) as trouble:
            raise NoCluster(f"no Dask scheduler answers at {address}: {trouble}") from None
        with client:
            yield from _mapped(client, jobs, exam)

    return engine


def _mapped(client: object, jobs: list[Job], exam: Exam) -> Iterator[tuple[Job, Result]]:
    from distributed import KilledWorker, as_completed

    held = {}
    for job in jobs:
        with open(job.path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
        future = client.submit(grade, job.path, exam, job.name, data, pure=False, retries=TRIES)
        held[future] = job
    for future in as_completed(list(held)):
        job = held.pop(future)
        try:
            result = future.result()
        except KilledWorker:
            result = lost(job)
        future.release()
        yield job, result
