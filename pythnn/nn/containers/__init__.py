"""Modules made of modules."""
