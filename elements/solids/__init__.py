"""Solid elements of meshes."""
