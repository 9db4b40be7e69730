"""Contacts of spheres, capsules, rings and points with analytic shapes."""
