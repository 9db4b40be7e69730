"""Lowest modes of a model of which K is factorised: Lanczos' method with blocks, restarts and full orthogonality.

    K φ = ω² M φ ,   A = K⁻¹M                                                                                       (1)
    A Q_j = Q T_j + Q_j+1 R_j ,   Q = [Q_1, …, Q_j] ,   QᵀMQ = 1                                                    (2)
    T s = θ s ,   φ = Q s ,   ω² = 1/θ ,   |A φ − θ φ|_M = |R_j s_j|                                                (3)

with s_j the rows of s of the last block. A restart keeps the best φ in the place of Q. A block of solutions reads the
factor once, as a single one does, and of a large mesh that is what takes the time. Equal frequencies, up to the columns
of a block, are found together.

Source: Grimes, Lewis & Simon, SIAM J. Matrix Anal. Appl. 15 (1994); restarts: Wu & Simon, same journal 22 (2000).
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh

Columns = Callable[[np.ndarray], np.ndarray]

ACCURACY = 1e-9  # of modes: their residuals (3), relative to θ; of frequencies it is the square
EQUAL = 1e-6  # relative: frequencies that are one to a Krylov space
AGAIN = 5  # blocks after which what another start has to add is seen
ROWS = 10_000  # of Q that are turned at a time


def lowest_modes(
    inverse: Columns, mass: Columns, n: int, count: int, block: int, most: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Squares of the lowest frequencies, modes (n, count) with φᵀMφ = 1, and how many of them are accurate.

    Parameters
    ----------
    inverse, mass : functions of columns (n, b) that give K⁻¹ and M times them
    n, count : int
    block : int
        Columns of a block. As many equal frequencies as that are there once more: other blocks are started from.
    most : int
        Blocks that are solved for at most.
    """
    random = np.random.default_rng(0)
    kept = count + block  # at a restart
    room = 2 * kept + 5 * block
    Q, T = np.empty((n, room), order="F"), np.zeros((room, room))
    size = good = since = 0
    before = theta = np.zeros(0)
    s, new = np.zeros((0, 0)), np.zeros((n, 0))
    for _ in range(most):
        if not new.shape[1]:
            new, since = _orthonormal(inverse(mass(random.normal(size=(n, block)))), Q[:, :size], mass)[0], 0
            if not new.shape[1]:
                break  # there is no more
        last = slice(size, size + new.shape[1])
        Q[:, last] = new
        size, since = last.stop, since + 1
        new, part, R = _orthonormal(inverse(mass(new)), Q[:, :size], mass)
        T[:size, last], T[last, :size] = part, part.T
        theta, s = eigh(T[:size, :size])
        theta, s = theta[::-1], s[:, ::-1]
        good = int((np.linalg.norm(R @ s[last], axis=0)[:count] <= ACCURACY * theta[:count]).sum())
        done = good == count and (since >= AGAIN or not new.shape[1])
        if done:
            if fewer_equal(theta[:count], block) or (len(before) and np.allclose(theta[:count], before, EQUAL, 0.0)):
                break
            before, new = theta[:count], new[:, :0]
        if done or size + block > room:
            size = min(kept, size)
            _turn(Q, s[:, :size])
            T[:] = 0.0
            T[range(size), range(size)] = theta[:size]
            s = np.eye(size)
    _turn(Q, s[:, :count])
    return 1.0 / theta[:count], Q[:, : min(count, size)].copy(order="F"), good  # without the rest


def fewer_equal(theta: np.ndarray, block: int) -> bool:
    """True if fewer than ``block`` of the numbers, which fall, are equal: none can be missing then."""
    first, last = theta[: max(len(theta) - block + 1, 0)], theta[block - 1 :]
    return bool((first - last > EQUAL * first).all())


def _turn(Q, s):
    """Put Q s in the place of the first columns of Q."""
    for begin in range(0, len(Q), ROWS):
        rows = slice(begin, begin + ROWS)
        Q[rows, : s.shape[1]] = Q[rows, : len(s)] @ s


def _orthonormal(W, Q, mass):
    """New columns, coefficients c and R of W = Q c + new R; columns of which nothing is left are dropped."""
    c, R = np.zeros((Q.shape[1], W.shape[1])), np.eye(W.shape[1])
    for again in range(3):  # a round resolves lengths of one part in 10⁸
        MW = mass(W)
        part, square = Q.T @ MW, W.T @ MW
        squares, turn = eigh(square - part.T @ part)
        lengths = np.sqrt(np.maximum(squares, 1e-15 * max(np.trace(square), 1e-280)))
        c += part @ R
        W, R = (W - Q @ part) @ (turn / lengths), (lengths[:, None] * turn.T) @ R
        whole = squares > 0.5
        if again and whole.all():
            break
    return W[:, whole], c, R[whole]
