"""Nearest points of segments, boxes and convex hulls, for elements and for contact groups."""
