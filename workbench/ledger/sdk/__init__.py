"""The official Python SDK at work, as programs that the checks start; nothing imports them."""
