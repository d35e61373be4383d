"""Layers that make planes and volumes larger."""
