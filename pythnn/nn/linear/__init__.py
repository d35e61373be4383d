"""Layers that multiply vectors by parameters, or look parameters up."""
