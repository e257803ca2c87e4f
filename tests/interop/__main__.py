"""Print the matrix:

python -m tests.interop            every pair that we are part of
python -m tests.interop --all      the SDKs among themselves, too
"""

import sys

from tests.interop.lab import Lab
from tests.interop.matrix import FAILS, OURS, table
from workbench import node

try:
    node.ensure()
except node.NodeUnavailable as trouble:
    sys.exit(f"The matrix needs Node: {trouble}")
with Lab() as lab:
    found = table(lab, every="--all" in sys.argv[1:])
print(found)
sys.exit(any(FAILS in line and OURS in line for line in found.splitlines()[1:]))
