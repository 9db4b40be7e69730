"""Rolling bearings as elements."""
