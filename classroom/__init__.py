"""The teacher's side: release exercises, grade what comes back, report on a class.

    python -m classroom release | variant | grade | report

It may import `mcp_bare` and the check library of the exercises; no notebook and no toy server
imports it.
"""
