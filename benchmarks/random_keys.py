"""Press random keys in the app: no exception, no hang, a complete log. Seeds are fixed.

    python benchmarks/random_keys.py                                      20,000 keys
    python benchmarks/random_keys.py --keys 400 --start history --seed 7  one learner

Each learner starts from one kind of folder (`key_homes.py`) and opens the app again whenever it has ended. After each
session the log is read, the stored state is compared with its replay, and the last acts are undone. A
failure prints the seed and the shortest failing prefix of its keys, which `--keys` repeats; after a key with ~
the next follows at once.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from textual.pilot import Pilot
from textual.worker import WorkerFailed

import key_acts
from attncli.paths import Home
from attncli.practice.workspace import Workspace, is_first_run
from key_acts import CHALLENGES, SETTLING_SECONDS, Act, draw, perform
from key_checks import Broken, Witness
from key_doubles import PlayedApp, install
from key_homes import STARTS, Clock, begun

KEYS, LIFE = 20_000, 400
THREADS_END_SECONDS = 10.0
SHOWN_FRAMES = 12


class Failed(Exception):
    """Raised when a session fails at an act."""


@dataclass
class Learner:
    """Acts until `next_act` returns None; `done` lists the acts so far."""

    home: Home
    seed: int
    next_act: Callable[[PlayedApp | None], Act | None]
    done: list[Act] = field(default_factory=list)
    screens: Counter[str] = field(default_factory=Counter)
    sittings: int = 0
    broken: Broken | None = None

    def live(self) -> None:
        """Open the app for each act that opens it. Raises Failed."""
        self.clock, self.pace = Clock(), Random(self.seed)
        witness = Witness(self.home)
        while (act := self._next(None)) is not None:
            if act.what == "open":
                try:
                    asyncio.run(self._sit(act.how, witness))
                    self._threads_have_ended()
                    witness.after()
                except Exception as error:
                    raise Failed(_told(error)) from error

    def _next(self, app: PlayedApp | None) -> Act | None:
        act = self.next_act(app)
        if act is not None:
            self.done.append(act)
            self.clock.now += timedelta(seconds=self.pace.choice((0.3, 2, 9, 40, 700)))
        return act

    async def _sit(self, route: str, witness: Witness) -> None:
        """Open the app as the command line does, and act until it ends or the acts run out."""
        self.sittings += 1
        with Workspace.open(self.home, self.clock) as workspace:
            first = "first-run" if not route and is_first_run(workspace) else route or "home"
            app = PlayedApp(workspace, Random(self.seed + self.sittings), first)
            if route in CHALLENGES:
                app.first, app.given = "challenge", {"id": route}
            try:
                async with app.run_test(size=(80, 24), notifications=True) as pilot:
                    try:
                        await self._act(pilot, witness)
                    except Broken as broken:  # keys typed ahead may raise at the end, which would hide it
                        self.broken = broken
                    app.exit(return_code=app.return_code or 0)
                    await asyncio.wait([app._task], timeout=SETTLING_SECONDS)  # type: ignore[list-item]
            finally:
                app.grader.close()
                signal.setitimer(signal.ITIMER_REAL, 0)
                if self.broken is not None:
                    raise self.broken
            stuck = [worker.name for worker in app.workers if not worker.is_finished]
            if stuck:
                raise Broken(f"these workers never ended: {stuck}")

    async def _act(self, pilot: Pilot[Any], witness: Witness) -> None:
        app = pilot.app
        assert isinstance(app, PlayedApp)
        while not app._exit and (act := self._next(app)) is not None:
            signal.setitimer(signal.ITIMER_REAL, SETTLING_SECONDS)
            await perform(act, pilot)
            if app.failure is not None:
                return
            if not app._exit and app.screen_stack:
                self.screens[type(app.screen).__name__] += 1
                witness.look(app)

    def _threads_have_ended(self) -> None:
        until = time.monotonic() + THREADS_END_SECONDS
        while others := [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]:
            if time.monotonic() > until:
                raise Broken(f"these threads never ended: {others}")
            time.sleep(0.01)


def _told(error: BaseException) -> str:
    frames = traceback.format_exception(error.error if isinstance(error, WorkerFailed) else error)
    return "".join(frames[-SHOWN_FRAMES:]).rstrip()


def _hang(_: int, frame: FrameType | None) -> None:
    raise TimeoutError(f"nothing came of a key within {SETTLING_SECONDS:g} s")


def drawn(seed: int, keys: int) -> Callable[[PlayedApp | None], Act | None]:
    """Return a function that draws `keys` acts with this seed."""
    rng, left = Random(seed), iter(range(keys))

    def draw_next(app: PlayedApp | None) -> Act | None:
        return None if next(left, None) is None else draw(rng, app)

    return draw_next


def repeated(acts: Sequence[Act]) -> Callable[[PlayedApp | None], Act | None]:
    """Return a function that repeats these acts."""
    left: Iterator[Act] = iter(acts)
    return lambda app: next(left, None)


def fault_of(start: str, room: Path, seed: int, acts: Sequence[Act]) -> str:
    """Return the error that these acts cause, or an empty text."""
    try:
        Learner(begun(start, room), seed, repeated(acts)).live()
    except Failed as failed:
        return str(failed)
    return ""


def shortest(start: str, room: Path, seed: int, acts: Sequence[Act]) -> Sequence[Act]:
    """Return the shortest prefix that fails too, or all acts if the failure does not repeat."""
    if not fault_of(start, room, seed, acts):
        return acts
    last = max(place for place, act in enumerate(acts) if act.what == "open")
    least, most = last + 1, len(acts)
    while least < most:
        middle = (least + most) // 2
        least, most = (least, middle) if fault_of(start, room, seed, acts[:middle]) else (middle + 1, most)
    return acts[:most]


def play(start: str, room: Path, seed: int, keys: int) -> tuple[Learner, str]:
    """Run one learner; return it and the error, or an empty text."""
    learner = Learner(begun(start, room), seed, drawn(seed, keys))
    try:
        learner.live()
    except Failed as failed:
        acts = shortest(start, room, seed, learner.done)
        again = f"python benchmarks/random_keys.py --start {start} --seed {seed} --keys {len(acts)}"
        return learner, f"{failed}\n\nseed {seed}, begun {start}, {len(acts)} keys: {again}\n{' '.join(map(str, acts))}"
    return learner, ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=KEYS)
    parser.add_argument("--seed", type=int, default=1, help="that of the first learner")
    parser.add_argument("--start", choices=list(STARTS), help="one learner alone, who presses all of the keys")
    parser.add_argument("--patient", action="store_true", help="no key before the last one is dealt with")
    options = parser.parse_args()
    if options.patient:
        key_acts.HASTE = 0.0
    os.environ.update(EDITOR="true", VISUAL="", TZ="UTC")
    editor = shutil.which("true")
    install()
    signal.signal(signal.SIGALRM, _hang)
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as programs:
        if editor:
            Path(programs, "true").symlink_to(editor)
        os.environ["PATH"] = programs  # nothing is started, whatever the editor command is
        for start, seed, keys in _learners(options):
            began = time.process_time()
            learner, fault = play(start, Path(folder), seed, keys)
            seen += learner.screens
            took = time.process_time() - began
            how_many = f"{len(learner.done):6} keys {learner.sittings:4} sittings"
            print(f"{start:10} seed {seed:3} {how_many} {took:6.1f} s of CPU", flush=True)
            if fault:
                print(fault)
                return 1
    print(
        f"held: {sum(seen.values())} keys on {len(seen)} screens:", ", ".join(f"{n} {c}" for n, c in seen.most_common())
    )
    return 0


def _learners(options: Any) -> Iterator[tuple[str, int, int]]:
    if options.start:
        yield options.start, options.seed, options.keys
        return
    for number in range(-(-options.keys // LIFE)):
        yield list(STARTS)[number % len(STARTS)], options.seed + number, min(LIFE, options.keys - number * LIFE)


if __name__ == "__main__":
    sys.exit(main())
