"""Tests share the processors; garbage is collected among objects of single tests: ten thousand that wait stay."""

import gc
import os

os.environ.setdefault("FEM_MBS_COMPILERS", "1")  # all processors run tests


def pytest_sessionstart():
    gc.disable()  # collection drops next to nothing, and looked through all it had made again and again


def pytest_collection_finish():
    gc.collect()
    gc.freeze()
    gc.enable()
