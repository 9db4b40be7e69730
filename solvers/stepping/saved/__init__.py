"""Saved states of a run: checkpoints, resuming, fingerprints of models."""
