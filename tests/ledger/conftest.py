"""One run of the whole ledger, which several tests look at."""

from dataclasses import dataclass

import pytest

from workbench import ledger
from workbench.ledger import paces
from workbench.ledger.bench import Bench


@dataclass(frozen=True)
class Run:
    """What a run found, and the parts that it found it with."""

    findings: dict
    logs: dict
    crashes: dict
    facts: dict
    paces: dict
    imports: object


@pytest.fixture(scope="session")
def whole_run(node_parts):
    """All claims, with what the course itself installs; few rounds, for no verdict needs many."""
    with pytest.MonkeyPatch.context() as patch, Bench(extra=False) as bench:
        patch.setattr(paces, "ROUNDS", 2)
        patch.setattr(paces, "COLD_ROUNDS", 1)
        findings = {id: ledger.check(claim, bench) for id, claim in ledger.CLAIMS.items()}
        parts = (dict(bench.logs), dict(bench.crashes), bench.python_facts)
        return Run(findings, *parts, bench.paces, bench.imports)


@pytest.fixture(scope="session")
def findings(whole_run):
    """Every finding by its id, with the real parts."""
    return whole_run.findings
