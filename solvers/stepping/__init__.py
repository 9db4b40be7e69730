"""Base of time steppers."""
