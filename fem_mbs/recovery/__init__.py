"""Contact forces from the impulses of a nonsmooth run."""
