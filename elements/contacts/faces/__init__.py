"""Contacts of nodes, frames and surfaces with the faces of meshes."""
