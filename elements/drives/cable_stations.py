"""Stations of a cable: what its constructor is given, checked, and laid out at the start.

Angles of the spans at the start follow from `drives.cable_path`, (1); that of the span after a pulley is the one with

    0 ≤ arc < 2π ,   arc = sign ρ_k (ψ_k − ψ_{k−1}) ,   plus whole turns that are given                        (1)

A drum at an end has the turns that it is given, and ψ_m follows from them.

An arc of nearly a turn that was not given means that the cable passes the pulley on its other side, and raises an
error; from 225° on it causes a warning. A load that would hang vertically from a drum or pulley with the other sign of
its radius, and does not with the sign that is given, causes a warning when the model is compiled.

Source: docs/theory/gears_and_belts.md, (12), (13). Symbols: see `fem_mbs.elements.drives.cable_path`.
"""

import math
from itertools import pairwise
from typing import Any

import numpy as np

from fem_mbs.element.base import Element
from fem_mbs.element.evaluator import evaluator_of
from fem_mbs.elements.drives.cable_path import MOST
from fem_mbs.errors import Warnings, label

WIDE = 1.25 * math.pi  # an arc from which on a pulley is more likely on the other side of the cable
VERTICAL, INCLINED = 1e-6, 1e-4  # rad: a span along gravity, to digits of input; one that is not meant to be


def span_angles(places: np.ndarray, rho: np.ndarray) -> np.ndarray:
    """Angles ψ_k [rad] of the spans between stations (n, 3) in axes of E, in (−π, π]; NaN without a common tangent."""
    d, kappa = np.diff(places, axis=0), np.diff(rho)
    with np.errstate(invalid="ignore", divide="ignore"):
        lean = np.where(kappa == 0.0, 0.0, np.arcsin(kappa / np.hypot(d[:, 0], d[:, 1])))
    return np.arctan2(d[:, 1], d[:, 0]) - lean


def _incline(psi: float, down: np.ndarray) -> float:
    """Angle [rad], 0 … π/2, of a span at ψ to gravity, a unit vector (3,) in axes of E."""
    return math.acos(min(abs(math.cos(psi) * down[0] + math.sin(psi) * down[1]), 1.0))


class OnPath(Element):
    """Common base of both cables: the stations, the plane, lengths at the start."""

    n_state = MOST - 1

    def lay(self, path: Any, length: Any, slack: Any, turns: Any) -> tuple[list, tuple, float]:
        """Stations and plane; returns nodes, the record of the path, and its length [m] at the start."""
        self.check(isinstance(path, (list, tuple)), "path", path, "must be a list of stations")
        turns = {} if turns is None else self.as_instance("turns", turns, dict, "a dictionary station -> turns")
        given = list(path)
        self.check(
            2 <= len(given) <= MOST, "path", path, f"must have 2 to {MOST} stations: the ends and pulleys between"
        )
        frames, rho = [], np.zeros(len(given))
        for k, item in enumerate(given):
            where = f"path[{k}]"
            if isinstance(item, tuple):
                self.check(len(item) == 2, where, item, "must be a frame, or (frame, radius) for a pulley")
                rho[k] = self.number(f"{where} radius", item[1], "m")
                item = item[0]
            frames.append(self.as_frame(where, item))
        drums = [k for k in (0, len(given) - 1) if rho[k] != 0.0]
        if len(drums) == 2:
            message = "and path[0] are drums on two bodies; a cable can have one. Let it end at a body between them"
            self.check(frames[0].node is frames[-1].node, f"path[{len(given) - 1}]", given[-1], message)
        with_radius = np.flatnonzero(rho)
        E = frames[[*drums, *with_radius][0]] if len(with_radius) else frames[0]
        nodes = list(dict.fromkeys(frame.node for frame in frames))
        self.check(len(nodes) > 1, "path", path, "has all its points on one body")
        for k in with_radius.tolist():
            apart = np.linalg.norm(np.cross(frames[k].orientation[:, 2], E.orientation[:, 2]))
            self.check(apart < 1e-8, f"path[{k}]", frames[k], "has another axis z than the first pulley; see Notes")
        for k, count in turns.items():
            self.check(
                k in with_radius.tolist(), "turns", turns, f"has the key {k!r}, which is no station with a radius"
            )
            self.as_integer(f"turns[{k}]", count, at_least=0)
        places = np.array([frame.position for frame in frames]) @ E.orientation
        psi = self._first_angles(places, rho, turns, given)
        self.path, self.rho, self._E = tuple(frames), rho, E
        size = len(frames)
        points, numbers, radii, start = np.zeros((MOST, 3)), np.zeros(MOST, int), np.zeros(MOST), np.zeros(MOST - 1)
        points[:size], radii[:size], start[: size - 1] = [frame.p for frame in frames], rho, psi
        numbers[:size] = [nodes.index(frame.node) for frame in frames]
        mark, wound = np.zeros(2), np.zeros(2, int)
        for end, k, span, away in ((0, 0, 0, -1.0), (1, size - 1, size - 2, 1.0)):
            if k in drums:
                self.arcs[k] = 2.0 * math.pi * turns.get(k, 0)
                mark[end] = psi[span] + away * math.copysign(1.0, rho[k]) * self.arcs[k]
                wound[end] = int(k in turns)
        d, kappa = np.diff(places, axis=0), np.diff(rho)
        begins = float(np.sum(np.sqrt((d**2).sum(axis=1) - kappa**2) - kappa * psi))
        begins += float(rho[-1] * mark[1] - rho[0] * mark[0])
        slack = self.number("slack", slack, "m")
        self.length = begins + slack if length is None else self.positive("length", length, "m")
        record = (size, numbers, points, radii, nodes.index(E.node), E.rotation, self.length, start, mark, wound)
        return nodes, record, begins

    def _first_angles(self, places, rho, turns, given):
        """ψ_k at the start with arcs ≥ 0 on all pulleys, each below a turn plus the turns that are given."""
        psi = span_angles(places, rho)
        self.arcs: dict = {}
        for k in range(len(rho) - 1):
            d = np.diff(places[k : k + 2], axis=0)[0]
            far = np.linalg.norm(d) if rho[k] == rho[k + 1] else math.hypot(d[0], d[1])
            reach = abs(rho[k + 1] - rho[k])
            self.check(
                far > reach,
                f"path[{k + 1}]",
                given[k + 1],
                f"is {far:.6g} m from the station before it; a span needs more than {reach:.6g} m there",
            )
            if k and rho[k]:
                more = math.copysign(1.0, rho[k])
                arc = more * (psi[k] - psi[k - 1]) % (2.0 * math.pi)
                arc = 0.0 if 2.0 * math.pi - arc < 1e-9 else arc
                self.check(
                    arc < 1.8 * math.pi or k in turns,
                    f"path[{k}]",
                    given[k],
                    f"would have an arc of {math.degrees(arc):.4g}°: the cable passes this pulley without touching it, "
                    "or on its other side (sign of the radius). If it does go round it, set turns",
                )
                if arc > WIDE and k not in turns:
                    wide = f"has an arc of {math.degrees(arc):.4g}°, with the other sign of its radius a smaller one"
                    text = f"{label(self)}: path[{k}], {label(given[k][0])}, {wide}. turns={{{k}: 0}} confirms it"
                    Warnings.issue(text)
                self.arcs[k] = arc + 2.0 * math.pi * turns.get(k, 0)
                psi[k] = psi[k - 1] + more * self.arcs[k]
            elif k:
                psi[k] += 2.0 * math.pi * round((psi[k - 1] - psi[k]) / (2.0 * math.pi))
        return psi

    def start_warnings(self, gravity: np.ndarray) -> list[str]:
        """Return warnings about loads that hang vertically if the radius of a drum or pulley has the other sign."""
        if not gravity.any():
            return []
        down = self._E.orientation.T @ gravity / np.linalg.norm(gravity)
        places, found = np.array([frame.position for frame in self.path]) @ self._E.orientation, []
        for k, end in ((drum, end) for drum in np.flatnonzero(self.rho).tolist() for end in (drum - 1, drum + 1)):
            if not 0 <= end < len(self.rho) or self.rho[end] or not self._moves_between(k, end):
                continue
            first, sides = min(k, end), np.zeros((2, 2))
            sides[:, k - first] = self.rho[k], -self.rho[k]
            lean = [float(_incline(span_angles(places[first : first + 2], rho)[0], down)) for rho in sides]
            if lean[1] < VERTICAL < INCLINED < lean[0]:
                found.append(
                    f"{label(self)}: path[{k}], {label(self.path[k].node)}, has radius {self.rho[k]:g} m, and the span "
                    f"to {label(self.path[end].node)} starts {math.degrees(lean[0]):.3g}° off the vertical, on which "
                    f"it would be with radius {-self.rho[k]:g} m. Change the sign, or the load swings to the other side"
                )
        return found

    def _moves_between(self, k: int, end: int) -> bool:
        """True if the body of one of two stations can move."""
        return bool(self.path[k].node.free.any() or self.path[end].node.free.any())

    def picture(self) -> list:
        """The pulleys; `drawn_spans` has the cable between them."""
        from fem_mbs.shapes import Cylinder

        shapes = []
        for frame, rho in zip(self.path, self.rho):
            if rho != 0.0:
                z = 0.1 * abs(rho) * frame.rotation[:, 2]
                shapes.append((frame.node, Cylinder(frame.p - z, frame.p + z, abs(rho))))
        return shapes

    def drawn_spans(self) -> list:
        """The cable from station to station; what lies on pulleys is not drawn."""
        stations = zip(self.path, self.rho)
        return [(a, b, np.array([r_a, r_b]), self._E) for (a, r_a), (b, r_b) in pairwise(stations)]

    def trouble(self, state: Any) -> str | None:
        """Describe the fault of the path in a state, or None."""
        nodes = [frame.node.index for frame in self.path]
        places = state.x[nodes] + np.einsum("kij,kj->ki", state.R[nodes], [frame.p for frame in self.path])
        E = state.R[self._E.node.index] @ self._E.rotation
        places = places @ E
        psi, reach = span_angles(places, self.rho), np.abs(np.diff(self.rho))
        for k, angle in enumerate(psi):
            if np.isnan(angle):
                d = np.hypot(*(places[k + 1] - places[k])[:2])
                return (
                    f"{label(self)}: stations {k} and {k + 1} of its path are {d:.6g} m apart, and the cable between "
                    f"them needs more than {reach[k]:.6g} m: an end has reached a pulley, or two pulleys meet"
                )
        return (
            f"{label(self)}: it has come off a pulley, on which its arc would be negative: an end has passed it, or "
            "the side of the pulley (sign of its radius) is wrong. A pulley that it may leave is not in this element. "
            "A drum is unwound: give it more turns"
        )

    def regular(self, point: Any) -> bool:
        """True if ℓ can be differentiated at a configuration: no span near a pulley, no jump of an angle."""
        places = [point.x[k] + point.R[k] @ f.p for k, f in ((self.nodes.index(f.node), f) for f in self.path)]
        places = np.array(places) @ (point.R[self.nodes.index(self._E.node)] @ self._E.rotation)
        d, psi = np.diff(places, axis=0), span_angles(places, self.rho)
        if np.isnan(psi).any() or np.abs(np.arctan2(d[:, 1], d[:, 0])).max() > 3.0:
            return False
        if np.hypot(d[:, 0], d[:, 1]).min() < 1.5 * np.abs(np.diff(self.rho)).max() + 0.3 * point.size:
            return False
        start = self.record[7][: len(psi)]
        if (np.abs((psi - start + math.pi) % (2 * math.pi) - math.pi) > 3.0).any():
            return False
        if self.role == "contact":
            return True
        states = np.zeros(self.n_state)
        call = evaluator_of(self)
        states[:] = call("initial", point)["state"]
        at = point.copy(state=states)
        f = [call("force", at.copy(v=c * point.v))["f"] for c in (0.0, 1.0, -2.0, 3.0)]
        cut = [np.abs(f[0] + c * (f[1] - f[0]) - other).max() for c, other in ((-2.0, f[2]), (3.0, f[3]))]
        return bool(np.abs(f[0]).max() > 0.02 and max(cut) < 1e-9 * np.abs(f[0]).max())
