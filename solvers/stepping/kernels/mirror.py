"""The copy of the start of a step that compiled code makes, for `stepping.run_data.RunData.start_of_step`."""

from fem_mbs.jit import integer_matrix, integers, kernel


@kernel
def keep(s):
    """Copy the kept arrays of the run to their mirrors, by a table of addresses and numbers of words."""
    table = integer_matrix(s.mirror_at, s.mirrored, 3)
    for k in range(s.mirrored):
        n = table[k, 2]
        source, target = integers(table[k, 0], n), integers(table[k, 1], n)
        for i in range(n):
            target[i] = source[i]
