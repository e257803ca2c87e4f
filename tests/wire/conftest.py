"""What the tests of the wire share: they import their helpers from this folder by name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
