"""Rolling bearings: geometry, equilibrium of the balls, life, wear."""
