"""Convex shapes of contact groups."""
