"""Limit processor time where a limit is promised."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def processor_seconds(most: float) -> Iterator[None]:
    """Fail if the block takes more than this many seconds of processor time."""
    before = time.process_time()
    yield
    assert time.process_time() - before < most
