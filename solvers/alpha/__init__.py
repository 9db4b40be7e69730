"""The generalized-α method: what methods of this kind share, and those that solve its equations coupled."""
