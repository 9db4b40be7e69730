"""The scheme of Moreau and Jean."""
