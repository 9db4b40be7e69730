"""Runs that are stopped at a checkpoint and resumed, and whether they are those of one run to the last bit."""

import numpy as np

import fem_mbs as fem
from fem_mbs.results.file import final_layout
from fem_mbs.solvers.stepping.saved.checkpoints import Checkpoints

APART = ("wall_time", "memory")  # statistics that no two runs share


class Killed(Exception):
    """What stands for the end of a process."""


def stop_after(monkeypatch, steps):
    """Let runs die with the first checkpoint after so many steps, and some of the steps behind it.

    Their files stay as they were written: a process that ends does not write them again in their final form.
    """
    write = Checkpoints.write

    def dying(self, chunks):
        if chunks.done > steps:
            raise Killed
        write(self, chunks)

    monkeypatch.setattr(Checkpoints, "write", dying)
    monkeypatch.setattr(final_layout, "repack", lambda *given: False)


def stopped_and_resumed(monkeypatch, method, model, t_end, h, path, *, every, kills, **options):
    """Result of a run that dies before the checkpoints number ``kills``, and is resumed after each."""
    with monkeypatch.context() as patch:
        stop_after(patch, every * kills[0])
        try:
            method.run(model, t_end, h, save=path, checkpoint_every=f"{every} steps", progress=False, **options)
            raise AssertionError("the run was to die")
        except Killed:
            pass
    for kill in kills[1:]:
        with monkeypatch.context() as patch:
            stop_after(patch, every * kill)
            try:
                fem.resume(path)
                raise AssertionError("the run was to die")
            except Killed:
                pass
    return fem.resume(path)


def differences(one, other):
    """Names of histories, pairs, statistics and warnings in which two results differ by a single bit."""
    assert len(one.t) == len(other.t), f"{len(one.t)} and {len(other.t)} states"
    a, b = (result.rows(np.arange(len(result.t))) for result in (one, other))
    found = [name for name in a if a[name].tobytes() != b[name].tobytes()]
    if one.description["contact_groups"]:
        count = int(one.pair_count.sum())
        if one._store.pairs(0, count).tobytes() != other._store.pairs(0, count).tobytes():
            found.append("pairs")
    names = set(one.statistics) | set(other.statistics)
    return found + [n for n in sorted(names) if n not in APART and one.statistics.get(n) != other.statistics.get(n)]
