"""Rigid bodies and point masses."""
