"""Shells on nodes with rotations."""
