"""Limit processor time, where such a limit is a promise."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def processor_seconds(most: float) -> Iterator[None]:
    """Fail if the block takes more than so many seconds of this process's processor time."""
    before = time.process_time()
    yield
    assert time.process_time() - before < most
