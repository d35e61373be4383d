"""Whole networks, against what a user could run instead."""
