"""Obstacles of contact groups: fixed, driven, and moved by their contacts."""
