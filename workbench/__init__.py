"""What the notebooks show things with; it may import `mcp_bare`, never the other way round."""
