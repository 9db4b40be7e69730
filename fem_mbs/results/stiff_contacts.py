"""Forces of very stiff contacts at one instant: equilibrium of the bodies' small displacements, by Newton's iteration.

Source: docs/theory/contact_problems.md, (31), (32); see `fem_mbs.results.unique_forces`.
"""

from typing import NamedTuple

import numpy as np

ACCURATE, ITERATIONS, SOFTER = 1e-9, 100, 0.1  # residual over the largest force; factor of stiffness
LEFT = 1e-5  # likewise, where it decreases no further: forces of a run keep to their law and to its tolerance


class StiffContacts(NamedTuple):
    """(1) of `unique_forces` at one instant.

    Attributes
    ----------
    E : (n, c, 3)
        Forces on n components of a unit of normal force and of friction along t1 and t2 of c contacts.
    G : (m, n)
        Gradients of joints.
    force : (c, 3) [N]
        Forces of rigid contacts with the motion wanted.
    k : (c, 3)
        Stiffnesses.
    mu : (c,)
        Friction coefficients of what sticks.
    along : (c, 2)
        r_T/r_N of what slides, NaN of others.
    """

    E: np.ndarray
    G: np.ndarray
    force: np.ndarray
    k: np.ndarray
    mu: np.ndarray
    along: np.ndarray

    def solve(self) -> np.ndarray | None:
        """Forces (c, 3); None where Newton's iteration finds none."""
        moving = np.flatnonzero(self.E.any(axis=(1, 2)) | self.G.any(axis=0))
        E, G = self.E[moving], self.G[:, moving]
        n, m = len(moving), len(G)
        given = np.einsum("nca,ca->n", E, self.force)
        size = max(np.abs(self.force).max(), 1e-300)

        def rest(z):
            r, D = self.forces(np.einsum("nca,n->ca", E, z[:n]))
            F = np.concatenate([np.einsum("nca,ca->n", E, r) + G.T @ z[n:] - given, G @ z[:n]])
            return r, D, F

        def matrix(D):
            K = np.einsum("nca,cab,mcb->nm", E, D, E)
            return np.block([[K, G.T], [G, np.zeros((m, m))]])

        both = np.einsum("ca,ab->cab", self.k, np.eye(3))
        z = np.linalg.lstsq(matrix(both), np.concatenate([given, np.zeros(m)]), rcond=1e-12)[0]
        r, D, F = rest(z)
        floor = 1.0
        for _ in range(ITERATIONS):
            if np.abs(F).max() <= ACCURATE * size:
                return r
            step = np.linalg.lstsq(matrix(D), -F, rcond=1e-12)[0]
            part = 1.0
            while part > 1e-3:
                new = rest(z + part * step)
                if np.linalg.norm(new[2]) < (1.0 - 0.1 * part) * np.linalg.norm(F):
                    break
                part *= 0.5
            else:
                if np.abs(F).max() <= LEFT * size:
                    return r
                # a body whose contacts are all open has no stiffness: move it until it meets one, further each time
                floor *= SOFTER
                part, step = 1.0, np.linalg.lstsq(matrix(D + floor * both), -F, rcond=1e-12)[0]
                new = rest(z + step)
            z, (r, D, F) = z + part * step, new
        return None

    def forces(self, e: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(2) for e (c, 3): forces (c, 3) and their derivatives (c, 3, 3)."""
        r, D = np.zeros_like(e), np.zeros((len(e), 3, 3))
        closed = e[:, 0] > 0.0
        r[:, 0], D[:, 0, 0] = self.k[:, 0] * e[:, 0] * closed, self.k[:, 0] * closed
        slides = ~np.isnan(self.along[:, 0])
        r[:, 1:] = np.where(slides[:, None], self.along * r[:, :1], self.k[:, 1:] * e[:, 1:] * closed[:, None])
        D[:, 1:, 0] = np.where(slides[:, None], self.along * D[:, :1, 0], 0.0)
        D[:, 1, 1] = D[:, 2, 2] = np.where(slides, 0.0, self.k[:, 1] * closed)
        size, bound = np.linalg.norm(r[:, 1:], axis=1), self.mu * r[:, 0]
        for c in np.flatnonzero(~slides & closed & (size > bound)):
            d = r[c, 1:] / size[c]
            D[c, 1:, 1:] = bound[c] / size[c] * self.k[c, 1] * (np.eye(2) - np.outer(d, d))
            D[c, 1:, 0] = self.mu[c] * self.k[c, 0] * d
            r[c, 1:] = bound[c] * d
        return r, D
