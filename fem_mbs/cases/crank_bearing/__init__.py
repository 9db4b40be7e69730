"""Crank mechanism with a ball bearing, Sanchez2025, 4.5: model with readings of its data, and cases."""
