"""Modules and criterions of Element-Research's dpnn."""
