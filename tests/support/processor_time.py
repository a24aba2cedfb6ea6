"""Bounds on processor time, where such a bound is what is promised."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def processor_seconds(most: float) -> Iterator[None]:
    """Fails where the block takes this process more than so many seconds of the processor."""
    before = time.process_time()
    yield
    assert time.process_time() - before < most
