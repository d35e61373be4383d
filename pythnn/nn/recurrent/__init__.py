"""Recurrent modules and what goes with them: the classes of rnn, torch/rnn and torch-rnn."""
