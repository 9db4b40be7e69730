"""Contact elements."""
