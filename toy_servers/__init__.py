"""Servers to talk to, to break and to mend; each is a script: `python toy_servers/NAME.py`."""
