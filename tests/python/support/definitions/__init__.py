"""What modules compute, written down in numpy."""
