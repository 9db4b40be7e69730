"""Files of results: layout, writing, locking, reading and checks."""
