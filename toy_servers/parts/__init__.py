"""Pieces that a toy server is made of; not servers themselves."""
