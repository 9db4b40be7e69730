"""Drives: gears, racks, differentials, belts, cables."""
