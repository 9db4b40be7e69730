"""Matrices of contacts between bodies by blocks: W in full, and Gᵀ E G in the pattern of the bodies that touch.

Symbols are those of `contact_problem.bodies`.
"""

import numpy as np

from fem_mbs.jit import kernel


@kernel
def scale_rows(blocks, S, out):
    """out = S G, row by row."""
    n, sides, d, m = blocks.shape
    for i in range(n):
        for k in range(sides):
            for a in range(d):
                for e in range(m):
                    out[i, k, a, e] = S[i, a] * blocks[i, k, a, e]


@kernel
def fill_dense(bodies, blocks, first, contacts, sides_of, W):
    """W = G Gᵀ as a full matrix; contacts and sides of body b at first[b] … first[b + 1]."""
    d, m = blocks.shape[2:]
    W[:, :] = 0.0
    for b in range(first.shape[0] - 1):
        for one in range(first[b], first[b + 1]):
            i, k = contacts[one], sides_of[one]
            for two in range(first[b], first[b + 1]):
                j, l = contacts[two], sides_of[two]
                for a in range(d):
                    for c in range(d):
                        total = 0.0
                        for e in range(m):
                            total += blocks[i, k, a, e] * blocks[j, l, c, e]
                        W[i * d + a, j * d + c] += total


@kernel
def list_contacts(bodies, first, contacts, sides_of):
    """Contacts of each body: fills first (nb + 1,) and, body by body, contacts and sides (as many as there are)."""
    n, sides = bodies.shape
    first[:] = 0
    for i in range(n):
        for k in range(sides):
            if bodies[i, k] >= 0:
                first[bodies[i, k] + 1] += 1
    for b in range(first.shape[0] - 1):
        first[b + 1] += first[b]
    for i in range(n):
        for k in range(sides):
            b = bodies[i, k]
            if b >= 0:
                contacts[first[b]] = i
                sides_of[first[b]] = k
                first[b] += 1
    for b in range(first.shape[0] - 1, 0, -1):
        first[b] = first[b - 1]
    first[0] = 0


@kernel
def count_links(bodies, first, contacts, pointers):
    """Bodies linked with each body by contacts, itself included: fills pointers (nb + 1,)."""
    n = len(first) - 1
    mark = np.full(n, -1)
    pointers[0] = 0
    for b in range(n):
        mark[b] = b
        count = 1
        for k in range(first[b], first[b + 1]):
            for other in bodies[contacts[k]]:
                if other >= 0 and mark[other] != b:
                    mark[other] = b
                    count += 1
        pointers[b + 1] = pointers[b] + count


@kernel
def fill_links(bodies, first, contacts, sides_of, pointers, columns, entries):
    """Columns of the pattern, ascending, and entries (nc, k, k): its block for sides (k, l) of contact i, -1: none."""
    n = len(first) - 1
    mark, place = np.full(n, -1), np.empty(n, np.int64)
    entries[:, :, :] = -1
    for b in range(n):
        mark[b] = b
        end = pointers[b]
        columns[end] = b
        end += 1
        for k in range(first[b], first[b + 1]):
            for other in bodies[contacts[k]]:
                if other >= 0 and mark[other] != b:
                    mark[other] = b
                    columns[end] = other
                    end += 1
        columns[pointers[b] : end].sort()
        for k in range(pointers[b], end):
            place[columns[k]] = k
        for k in range(first[b], first[b + 1]):
            i = contacts[k]
            for l in range(bodies.shape[1]):
                if bodies[i, l] >= 0:
                    entries[i, sides_of[k], l] = place[bodies[i, l]]


@kernel
def fill_normal_matrix(bodies, blocks, E, diagonal, entries, pointers, columns, values):
    """values = diagonal I + Gᵀ E G by blocks of bodies."""
    n, sides, d, m = blocks.shape
    values[:, :, :] = 0.0
    for b in range(len(pointers) - 1):
        for k in range(pointers[b], pointers[b + 1]):
            if columns[k] == b:
                for e in range(m):
                    values[k, e, e] = diagonal
    EG = np.empty((d, m))
    for i in range(n):
        for l in range(sides):
            if bodies[i, l] < 0:
                continue
            for a in range(d):
                for e in range(m):
                    total = 0.0
                    for c in range(d):
                        total += E[i, a, c] * blocks[i, l, c, e]
                    EG[a, e] = total
            for k in range(sides):
                at = entries[i, k, l]
                if at >= 0:
                    for a in range(d):
                        for f in range(m):
                            x = blocks[i, k, a, f]
                            if x != 0.0:
                                for e in range(m):
                                    values[at, f, e] += x * EG[a, e]


@kernel
def invert_blocks(A, B, T, E):
    """T = A⁻¹ and E = A⁻¹ B, block by block (nc, d, d); False when a block is singular."""
    d = A.shape[1]
    work = np.empty((d, 3 * d))
    for i in range(A.shape[0]):
        for a in range(d):
            for b in range(d):
                work[a, b] = A[i, a, b]
                work[a, d + b] = 1.0 if a == b else 0.0
                work[a, 2 * d + b] = B[i, a, b]
        for c in range(d):
            pivot = c
            for a in range(c + 1, d):
                if abs(work[a, c]) > abs(work[pivot, c]):
                    pivot = a
            if not abs(work[pivot, c]) > 0.0:
                return False
            for b in range(3 * d):
                x = work[pivot, b]
                work[pivot, b] = work[c, b]
                work[c, b] = x
            x = work[c, c]
            for b in range(3 * d):
                work[c, b] /= x
            for a in range(d):
                if a != c and work[a, c] != 0.0:
                    x = work[a, c]
                    for b in range(3 * d):
                        work[a, b] -= x * work[c, b]
        for a in range(d):
            for b in range(d):
                T[i, a, b] = work[a, d + b]
                E[i, a, b] = work[a, 2 * d + b]
    return True
