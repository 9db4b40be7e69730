"""Contacts of boxes and convex hulls."""
