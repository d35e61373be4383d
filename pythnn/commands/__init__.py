"""The subcommands of ``pythnn``."""
