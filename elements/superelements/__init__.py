"""Reduced flexible bodies."""
