"""Geometrically exact beams."""
