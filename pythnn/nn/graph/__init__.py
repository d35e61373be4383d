"""Graphs of modules."""
