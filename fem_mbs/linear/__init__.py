"""Linear solvers behind one interface, and factors of matrices."""
