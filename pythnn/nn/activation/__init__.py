"""Functions of every element alone, and probabilities."""
