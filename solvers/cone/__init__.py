"""Cone complementarity: time stepping of Tasora and Anitescu."""
