"""Compilation of kernels: the compiler, the folder of compiled code, fingerprints of sources."""
