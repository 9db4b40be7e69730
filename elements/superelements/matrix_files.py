"""Mass and stiffness matrices in the files of other programs: Matrix Market, Abaqus, Nastran.

    Matrix Market   "%%MatrixMarket …" in the first line; rows node by node, as the points are given
    Abaqus          *MATRIX OUTPUT, FORMAT=MATRIX INPUT: lines "node, component, node, component, value"; the lower
                    triangle, or all entries
    Nastran         DMIG, small (8), large (16) or free fields; form 6 is symmetric with one triangle, 1 has all entries

Entries of the last two belong to labels of nodes; entries that are not in a file are 0. The format is recognised from
the file.

Source: formats as in the documentation of the programs, checked with files made after it.
"""

from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fem_mbs.arguments.checked import Named
from fem_mbs.errors import ParameterError
from fem_mbs.mesh.nastran_cards import lines_of
from fem_mbs.mesh.nastran_cards import number as number_of
from fem_mbs.mesh.text_files import text_of

SYMMETRIC, SQUARE = 6, 1  # forms of DMIG
LINES_SHOWN = 40  # characters of a line in a message
EQUAL = 1e-9  # of the largest entry: difference of values of one entry that is round-off
HEAD, BLANK = 4096, b"\xef\xbb\xbf \t\r\n"  # bytes that are looked at; what may stand before the first word


class Entries(NamedTuple):
    """Entries of a matrix whose rows are components 1 … 6 of labelled nodes.

    Attributes
    ----------
    rows, columns : (e, 2) int, label and component
    values : (e,)
    symmetric : bool, one triangle stands for both
    """

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    symmetric: bool

    def matrix(self, labels: np.ndarray, per: int) -> Any:
        """Sparse matrix with ``per`` rows for each label (rising)."""
        from scipy.sparse import coo_matrix

        i, j = (per * np.searchsorted(labels, part[:, 0]) + part[:, 1] - 1 for part in (self.rows, self.columns))
        n = per * len(labels)
        A = coo_matrix((self.values, (i, j)), shape=(n, n)).tocsc()
        if self.symmetric:
            from scipy.sparse import diags

            A = A + A.T - diags(A.diagonal())
        return A.tocsc()


def read_matrix_file(owner: Named, key: str, path: str | Path) -> Any:
    """A sparse matrix (Matrix Market) or `Entries` (Abaqus, Nastran) of a file.

    Raises
    ------
    ParameterError
        It cannot be read, or a line of it is not of its format: names the line.
    """
    path = Path(path)
    try:
        with open(path, "rb") as file:
            if file.read(HEAD).lstrip(BLANK).startswith(b"%%MatrixMarket"):
                from scipy.io import mmread

                file.seek(0)
                return mmread(BytesIO(file.read().lstrip(BLANK)))
        lines = text_of(path).split("\n")
    except (OSError, ValueError) as error:
        raise ParameterError(owner, key, str(path), f"cannot be read as a matrix: {error}") from error
    nastran = any(line.upper().startswith("DMIG") for line in lines)
    return _dmig(owner, key, path, lines) if nastran else _abaqus(owner, key, path, lines)


def _refuse(owner, key, path, number, line, why):
    shown = line.strip()[:LINES_SHOWN]
    return ParameterError(owner, key, str(path), f"line {number}, '{shown}': {why}")


def _abaqus(owner, key, path, lines):
    """Entries of an Abaqus matrix: the file has them once, or both triangles."""
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("**"):
            continue
        if line.startswith("*"):
            if line.upper().replace(" ", "").startswith("*MATRIX"):
                continue
            why = "is not a line of a matrix of Abaqus (*MATRIX OUTPUT, FORMAT=MATRIX INPUT)"
            raise _refuse(owner, key, path, number, line, why)
        parts = line.replace(",", " ").split()
        try:
            if len(parts) != 5:
                raise ValueError
            entry = (*(int(part) for part in parts[:4]), number_of(parts[4]))
        except ValueError:
            why = "needs node, component, node, component and value (Matrix Market files begin with %%MatrixMarket)"
            raise _refuse(owner, key, path, number, line, why) from None
        _check_place(owner, key, path, number, line, entry[:4])
        found.append(entry)
    if not found:
        raise ParameterError(owner, key, str(path), "has no entries")
    table = np.array(found)
    order = table[:, :2] @ [10, 1] - table[:, 2:4] @ [10, 1]
    return _once(owner, key, path, table, not ((order > 0).any() and (order < 0).any()))


def _once(owner, key, path, table, symmetric):
    """Entries of a table (e, 5), each once: repeated ones, and both triangles of a symmetric matrix, must be equal."""
    places = table[:, :4].astype(int)
    if symmetric:
        upper = places[:, :2] @ [10, 1] < places[:, 2:] @ [10, 1]
        places[upper] = places[upper][:, [2, 3, 0, 1]]
    places, first, again = np.unique(places, axis=0, return_index=True, return_inverse=True)
    values = table[first, 4]
    apart = np.abs(values[again.ravel()] - table[:, 4]) > EQUAL * np.abs(table[:, 4]).max()
    if apart.any():
        a, i, b, j = table[np.argmax(apart), :4].astype(int)
        why = f"has two values for the entry of node {a}, component {i}, and node {b}, component {j}"
        raise ParameterError(owner, key, str(path), why)
    return Entries(places[:, :2], places[:, 2:], values, symmetric)


def _check_place(owner, key, path, number, line, places):
    for label, component in (places[:2], places[2:]):
        if label < 1:
            why = f"node {label} is an internal one of Abaqus (Lagrange multiplier, hybrid element): remove it"
            raise _refuse(owner, key, path, number, line, why)
        if not 1 <= component <= 6:
            why = f"component {component} of node {label} is no displacement 1 … 3 or rotation 4 … 6"
            raise _refuse(owner, key, path, number, line, why)


def _dmig(owner, key, path, lines):
    """Entries of the DMIG matrix of a punch file; of several that whose name begins with the letter of ``key``."""
    heads: dict[str, int] = {}
    entries: dict[str, list] = {}
    others: dict[str, ParameterError] = {}  # loads and other matrices of a punch file: an error if one is requested
    name, column = "", (0, 0)
    for number, line, fields, *_ in lines_of(lines):
        card, parts = fields[0].upper(), [*fields[1:], *[""] * 8]
        if card not in ("DMIG", ""):
            name = ""
            continue
        try:
            if card == "DMIG" and parts[1] == "0":
                head, form, name = parts[0].upper(), int(parts[2]), ""
                why = f"form {form} is neither 6 (symmetric) nor 1 (square)" if form not in (SYMMETRIC, SQUARE) else ""
                why = f"type {parts[3]} is not 1 or 2: real numbers" if not why and parts[3] not in ("1", "2") else why
                if why:
                    others[head] = _refuse(owner, key, path, number, line, why)
                else:
                    heads[head], entries[head] = form, entries.get(head, [])
                continue
            if card == "DMIG" and parts[0].upper() in others:
                name = ""
                continue
            if card == "DMIG":
                name, column = parts[0].upper(), (int(parts[1]), int(parts[2] or 0))
                parts = parts[4:]
            groups = [group for group in (parts[:3], parts[4:7]) if len(group) == 3 and group[0]]
            if not name:
                continue
            for label, component, value in groups:
                place = (int(label), int(component or 0), *column)
                _check_place(owner, key, path, number, line, place)
                entries[name].append((*place, number_of(value)))
        except KeyError:
            raise _refuse(owner, key, path, number, line, f"matrix {name} has no header line before") from None
        except ValueError as error:
            if isinstance(error, ParameterError):
                raise
            why = "is not a line of DMIG: it needs a node, a component and a value"
            raise _refuse(owner, key, path, number, line, why) from None
    wanted = [one for one in entries if entries[one]]
    several = len(wanted) + len(others) > 1
    fitting = [one for one in wanted if one.startswith(key[:1].upper())] if several else wanted
    fitting = [one for one in fitting if not one.startswith("K4")] or fitting  # K4: structural damping
    refused = [one for one in others if not several or one.startswith(key[:1].upper())]
    if refused and not fitting:
        raise others[refused[0]]
    if len(fitting) != 1:
        letter = key[:1].upper()
        message = f"has {len(fitting)} DMIG matrices whose name begins with {letter}, of {', '.join(wanted) or 'none'}"
        message += "; exactly one must. Put the others into another file"
        raise ParameterError(owner, key, str(path), message)
    return _once(owner, key, path, np.array(entries[fitting[0]]), heads[fitting[0]] == SYMMETRIC)
