"""Springs, dampers and loads."""
