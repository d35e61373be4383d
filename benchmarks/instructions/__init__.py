"""Instructions of libTHNN's loops, counted under QEMU."""
