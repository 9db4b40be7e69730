"""Models from URDF, the format of robots, and back."""
