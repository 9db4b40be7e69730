"""Many spheres that touch: contact groups of free bodies, solved without matrices."""
