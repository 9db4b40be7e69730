"""Modal assurance: how alike two sets of mode shapes are, of two models or of a model and a measurement.

    MAC_jk = |Σ w_i φ̄_ij·ψ_ik|² / (Σ w_i |φ_ij|² Σ w_i |ψ_ik|²)                                                    (1)

1: the same shape, whatever its size; 0: shapes with nothing in common.

Source: Allemang & Brown, Proc. 1st Int. Modal Analysis Conf. (1982), 110-116.
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Keywords, Named


@Keywords.known
def mac(first: ArrayLike, second: ArrayLike, weights: ArrayLike | None = None) -> np.ndarray:
    """Modal assurance criterion (1) of all pairs of two sets of mode shapes.

    Parameters
    ----------
    first : (j, n, …) real or complex
        Shapes of j modes at n points: ``body.mode_shapes(modes)``, or parts of ``modes.shapes``.
    second : (k, n, …), at the same points
    weights : (n,) ≥ 0, optional
        Of the points, e.g. their masses; default: all alike.

    Returns
    -------
    (j, k), from 0 to 1

    Raises
    ------
    ParameterError
        Sets of different points; shapes that are zero or not finite; weights that are negative.

    Examples
    --------
    >>> mac([[1.0, 0.0], [0.0, 2.0]], [[2.0, 2.0]]).round(3).tolist()
    [[0.5], [0.5]]
    """
    owner = Named("mac")
    sets = [_shapes(owner, key, given) for key, given in (("first", first), ("second", second))]
    same = sets[0].shape[1:] == sets[1].shape[1:]
    owner.check(same, "second", sets[1].shape, f"are shapes at other points than those of first, {sets[0].shape}")
    w = np.ones(sets[0].shape[1]) if weights is None else owner.as_array("weights", weights, (sets[0].shape[1],))
    owner.check((w >= 0.0).all() and w.any(), "weights", weights, "must not be negative, nor all zero")
    flat = [(one * np.sqrt(w).reshape(-1, *[1] * (one.ndim - 2))).reshape(len(one), -1) for one in sets]
    energies = [np.einsum("ki,ki->k", one.conj(), one).real for one in flat]
    for key, size in zip(("first", "second"), energies):
        owner.check((size > 0.0).all(), key, f"mode {int(size.argmin())}", "does not move at these points")
    return np.abs(flat[0].conj() @ flat[1].T) ** 2 / np.outer(*energies)


def _shapes(owner: Named, key: str, given: Any) -> np.ndarray:
    try:
        shapes = np.asarray(given, complex if np.iscomplexobj(given) else float)
    except (TypeError, ValueError, OverflowError):
        shapes = np.zeros(0)
    right = shapes.ndim >= 2 and shapes.size > 0 and bool(np.isfinite(shapes).all())
    owner.check(right, key, given, "must be shapes (modes, points, …) of finite numbers")
    return shapes
