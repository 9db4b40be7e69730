"""Joints, drivers and prescribed motion."""
