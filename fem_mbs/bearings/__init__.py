"""Rolling bearings: geometry, equilibrium of the balls, life, damage of raceways, wear."""
