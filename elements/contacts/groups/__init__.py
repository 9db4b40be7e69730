"""Contact groups: bodies that touch in pairs found by a search, and their contact materials."""
