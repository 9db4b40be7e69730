"""Monitors of a run: energy balance, penetration, creep, losses, warnings, failures."""
