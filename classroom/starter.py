"""The first thing that runs in the sandbox: it ties its own hands, then becomes the program.

    python -I -S starter.py USER MEMORY PROCESSES FILE_SIZE OPEN_FILES CPU PROGRAM.py ARGUMENTS...

The limits stand before a line of a learner's code is read, and they are hard: an ordinary user can
lower them, never raise them. USER is the number of the user to become where a teacher works as
root; 0 means that we are an ordinary user already.

It runs the program in this same process: to start Python twice would double what a start costs.

Does not handle: what the sandbox shows (`sandbox`). It imports next to nothing, to start fast.
"""

import os
import resource
import sys

LIMITS = (
    resource.RLIMIT_AS,
    resource.RLIMIT_NPROC,
    resource.RLIMIT_FSIZE,
    resource.RLIMIT_NOFILE,
    resource.RLIMIT_CPU,
)
NOTHING = (resource.RLIMIT_CORE, resource.RLIMIT_MSGQUEUE, resource.RLIMIT_MEMLOCK)


def tie(user: int, limits: list[int]) -> None:
    """Set the limits, and become the user."""
    with open("/proc/self/oom_score_adj", "w") as first_to_go:
        first_to_go.write("1000")  # where the machine runs short, this goes before the teacher's
    for what, most in [*zip(LIMITS, limits, strict=True), *((each, 0) for each in NOTHING)]:
        resource.setrlimit(what, (most, most))
    if user:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)


def main() -> None:
    """Take user and limits from argv, and run the rest of it."""
    user, *limits = map(int, sys.argv[1 : 2 + len(LIMITS)])
    tie(user, limits)
    sys.argv = sys.argv[2 + len(LIMITS) :]
    with open(sys.argv[0], "rb") as file:
        program = compile(file.read(), sys.argv[0], "exec")
    exec(program, {"__name__": "__main__", "__file__": sys.argv[0]})


main()
