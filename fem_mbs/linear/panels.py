"""Dense columns of Cholesky factors in panels of some hundred: less memory for the same factors.

CHOLMOD holds the columns of a separator, of which a compact part of 10⁵ elements has thousands, as one dense block with
the half above its diagonal, and updates it in one product. A panel needs no rows above its own columns, and its
products are small.
"""

import numpy as np


def panels(first: np.ndarray, at: np.ndarray, rows: np.ndarray, width: int) -> tuple[np.ndarray, ...]:
    """First columns, beginnings of rows and of numbers, and rows, of supernodes of at most ``width`` columns.

    Parameters
    ----------
    first : (s + 1,) int, first column of each supernode, and the number of all
    at : (s + 1,) int, where its rows begin
    rows : (r,) int, of all supernodes; those of its own columns come first

    Returns
    -------
    first, at, numbers, rows : arrays of int32
        ``numbers`` (s + 1,): where the dense columns of each begin.
    """
    columns = np.diff(first)
    parts = -(-columns // width)
    of = np.repeat(np.arange(len(columns)), parts)
    k = np.arange(len(of)) - np.repeat(np.cumsum(parts) - parts, parts)
    above = k * columns[of] // parts[of]
    begins = np.append(first[of] + above, first[-1])
    heights = np.diff(at)[of] - above
    new_at = np.append(0, np.cumsum(heights))
    numbers = np.append(0, np.cumsum(heights * np.diff(begins)))
    taken = np.repeat(at[of] + above - new_at[:-1], heights) + np.arange(new_at[-1])
    return tuple(a.astype(np.int32) for a in (begins, new_at, numbers, rows[taken]))


def workspaces(first: np.ndarray, at: np.ndarray, rows: np.ndarray) -> tuple[int, int]:
    """Numbers of the largest update of one supernode by another, and most rows below a supernode's own columns."""
    columns = np.diff(first)
    own = np.repeat(np.arange(len(columns)), np.diff(at))
    target = np.repeat(np.arange(len(columns)), columns)[rows]
    begins = np.flatnonzero((np.diff(own, prepend=-1) != 0) | (np.diff(target, prepend=-1) != 0))
    heights = np.diff(np.append(begins, len(rows)))
    below = at[own[begins] + 1] - begins
    others = target[begins] != own[begins]
    largest = (heights[others] * below[others]).max() if others.any() else 0
    return int(largest), int((np.diff(at) - columns).max())
