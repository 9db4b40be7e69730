"""Collect garbage between tests only among objects that they make: those of ten thousand collected tests stay."""

import gc


def pytest_sessionstart():
    gc.disable()  # collection drops next to nothing, and looked through all it had made again and again


def pytest_collection_finish():
    gc.collect()
    gc.freeze()
    gc.enable()
