"""One run of the whole ledger, which several tests look at."""

import pytest

from workbench import ledger


@pytest.fixture(scope="module")
def findings(node_parts):
    """Every finding by its id, with the real parts."""
    return {finding.claim.id: finding for finding in ledger.run()}
