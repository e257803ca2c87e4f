"""The check library of the exercises: a learner's code in a process of its own, judged by bytes.

    from workbench.checks import check, tally

`notebook` is what an exercise sees; `judge` and `library` serve a grader just as well. It imports
`mcp_bare` and nothing else of this repository.
"""

from workbench.checks.notebook import check, tally

__all__ = ["check", "tally"]
