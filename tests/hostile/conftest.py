"""As in the protocol's tests: processes are looked for where one was started."""

from tests.protocol.conftest import no_process_left_behind

__all__ = ["no_process_left_behind"]
