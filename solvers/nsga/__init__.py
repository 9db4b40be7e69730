"""The decoupled nonsmooth generalized-alpha scheme."""
