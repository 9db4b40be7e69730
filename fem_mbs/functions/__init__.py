"""Functions of time: signals, profiles, and their derivatives."""
