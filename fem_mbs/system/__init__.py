"""The system of a model: its numbering, layout, workspace and assembly."""
