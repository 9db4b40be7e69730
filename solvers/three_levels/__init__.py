"""Nonsmooth generalized-alpha method with contacts at position, velocity and acceleration level."""
