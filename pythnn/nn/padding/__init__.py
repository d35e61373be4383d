"""Layers that put something around planes and volumes."""
