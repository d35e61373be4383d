"""Layers whose input or output is a table."""
