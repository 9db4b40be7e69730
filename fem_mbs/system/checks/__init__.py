"""Checks of a compiled model: redundant constraints, loops, locked gears, and diagnoses of failures."""
