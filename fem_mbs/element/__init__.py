"""Contract of elements: base classes, registry, and calls of their kernels one at a time."""
