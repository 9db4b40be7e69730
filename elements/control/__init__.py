"""Sensors, sampled controllers, events and first-order states."""
