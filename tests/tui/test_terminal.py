"""End the app when its terminal is gone; no process may keep reading a closed terminal."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from attncli.tui.app import Exits, hung_up, standard_terminal

pty = pytest.importorskip("pty")
ENOUGH_SECONDS = 60.0


@pytest.fixture
def terminal():
    ours, theirs = pty.openpty()
    yield ours, theirs
    for descriptor in (ours, theirs):
        try:
            os.close(descriptor)
        except OSError:
            continue


def test_a_terminal_has_hung_up_once_its_other_side_is_closed(terminal) -> None:
    ours, theirs = terminal
    assert not hung_up(theirs)
    os.close(ours)
    assert hung_up(theirs)


def test_a_pipe_is_no_terminal(monkeypatch) -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader) as stream:
        monkeypatch.setattr(sys, "__stdin__", stream)
        assert standard_terminal() is None
    assert standard_terminal() is None, "a closed stream is none either"
    os.close(writer)


@pytest.fixture
def opened(terminal, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Start the app in that terminal; yield it and its output up to the first screen.

    It has its own session, so no signal comes, as below a `make` that catches it.
    """
    ours, theirs = terminal
    (tmp_path / "config.toml").write_text('lang = "en"\n', encoding="utf-8")
    environment = {**os.environ, "ATTN_HOME": str(tmp_path), "TERM": "xterm-256color"}
    environment.pop("PYTHONUNBUFFERED", None)  # as it is where nobody has set it: what is written may wait
    command = [sys.executable, "-m", "attncli"]
    app = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True)
    try:
        yield app, _shown(ours)
    finally:
        app.kill()
        app.wait()


@pytest.fixture
def app(opened: tuple[subprocess.Popen[bytes], str]) -> subprocess.Popen[bytes]:
    return opened[0]


@pytest.mark.slow
def test_a_start_says_what_is_read_before_the_first_screen(opened: tuple[subprocess.Popen[bytes], str]) -> None:
    before, _started, first_screen = opened[1].partition("\x1b[?1049h")
    assert "Reading the question bank" in before and "Today" in first_screen


@pytest.mark.slow
def test_the_app_ends_when_its_window_is_closed(terminal, app: subprocess.Popen[bytes]) -> None:
    os.close(terminal[0])
    assert app.wait(ENOUGH_SECONDS) == 129


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGHUP, pytest.param(signal.SIGTERM, marks=pytest.mark.full)])
def test_a_signal_ends_the_app_in_order(terminal, app: subprocess.Popen[bytes], number: signal.Signals) -> None:
    app.send_signal(number)
    os.close(terminal[0])
    assert app.wait(ENOUGH_SECONDS) == 128 + number


async def test_an_app_that_is_told_to_end_before_it_shows_a_screen_has_nothing_to_keep() -> None:
    app = Exits()
    assert not app.screen_stack
    await app.on_exit_app()
    assert app.save_text is None


def _shown(descriptor: int) -> str:
    """Return the app's output up to its first screen."""
    shown, end = "", time.monotonic() + ENOUGH_SECONDS
    while "Today" not in shown and time.monotonic() < end:
        if select.select([descriptor], [], [], 1.0)[0]:
            shown += os.read(descriptor, 1 << 16).decode(errors="replace")
    return shown
