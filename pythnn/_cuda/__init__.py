"""Arrays on CUDA devices. Imported when the first one is met.

The compiled part is a package of its own, ``pythnn_cuda12`` or ``pythnn_cuda13``.
"""
