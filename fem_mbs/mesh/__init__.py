"""Meshes: cells and their faces, mesh generators, and readers of the files of other programs."""
