"""Layers that arrange elements anew, or reduce dimensions."""
