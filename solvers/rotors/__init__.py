"""Rotors in the inertial frame: Campbell diagram, critical speeds, unbalance response."""
