"""pythnn against PyTorch, in one process: ``python -m benchmarks --help``."""
