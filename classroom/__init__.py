"""The teacher's side: releasing exercises, grading what comes back, reporting on a class.

Nothing lives here yet. It may import `mcp_bare`; no notebook and no toy server imports it.
"""
