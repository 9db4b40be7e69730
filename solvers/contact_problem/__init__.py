"""The contact problem of one instant as a problem of its own, and the methods that solve it."""
