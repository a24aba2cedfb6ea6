"""One learner's sitting: their settings, their database, the banks, and the clock."""

from __future__ import annotations

import contextlib
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from attncli import paths
from attncli.config import PER_TOPIC, SCHEDULING_KEYS, Settings, load, save, topic_in
from attncli.config import load as load_settings
from attncli.errors import ConfigInvalid, EnvironmentFailure, StoreBusy, StoreError, StoreUnwritable, UsageError
from attncli.memory.scheduler import StudyCalendar
from attncli.practice.library import SourceFiles
from attncli.store import backups
from attncli.store.database import Database
from attncli.store.queue_table import ORDERED_FOR, Moment

if TYPE_CHECKING:
    from attncli.domain.text import Lang
    from attncli.memory.replay import FitInForce
    from attncli.memory.scheduler import SchedulePolicy, Scheduler
    from attncli.paths import Home
    from attncli.practice.library import Library


Clock = Callable[[], datetime]
FIRST_YEAR, LAST_YEAR = 2, 9998

# Copying and checking so much takes a tenth of a second, once a day, after the answer is on disk.
COPIED_AT_ONCE_BYTES = 16 * 2**20
COPIED_WITH_TIME_BYTES = 2**30


class Workspace:
    """Everything a use case needs. Open it with `Workspace.open`, close it or use it as a context manager.

    `clock` returns the present as an aware datetime. `lang` overrides the language of the settings. The banks are
    looked at when the workspace is opened; schedules are derived anew if the settings they depend on have changed.
    """

    def __init__(
        self, home: paths.Home, clock: Clock, settings: Settings, lang: Lang, store: Database, source_files: SourceFiles
    ):
        self.home = home
        self.clock = clock
        self.settings = settings
        self.lang: Lang = lang
        self.store = store
        self.source_files = source_files
        self.calendar = StudyCalendar(settings.day_start)
        self._fit = ""
        self._topic_schedulers: dict[str, Scheduler] = {}

    @staticmethod
    def open(
        home: paths.Home,
        clock: Clock,
        lang: Lang | None = None,
        settings: Settings | None = None,
        quizbank: Path | None = None,
        impl: Path | None = None,
    ) -> Workspace:
        """Opens the learner's folder `home`; `quizbank` and `impl` replace the bundled banks and challenges.

        Raises ConfigInvalid, StoreError, StoreCorrupt.
        """
        settings = settings or load_settings(home.config, {})
        source_files = SourceFiles(
            quizbank=quizbank or paths.bundled_quizbank(),
            impl=impl or paths.bundled_impl(),
            own_banks=home.banks,
            own_challenges=home.challenges,
        )
        home.keep_private()
        store = Database.open(home.database, lambda store: _keep_before_migration(store, home, clock))
        workspace = Workspace(home, clock, settings, lang or settings.lang, store, source_files)
        try:
            workspace._bring_up_to_date()
        except BaseException:
            store.close()
            raise
        return workspace

    def beside(self) -> Workspace:
        """Another one over the same data, for a thread of its own."""
        files = self.source_files
        return Workspace.open(self.home, self.clock, self.lang, self.settings, files.quizbank, files.impl)

    def reader(self) -> Workspace:
        """Open another one over the same data, for a thread that only reads: the banks are taken as last indexed."""
        store = Database.open(self.home.database)
        return Workspace(self.home, self.clock, self.settings, self.lang, store, self.source_files)

    def read_banks(self) -> None:
        """Takes in what was written into banks and challenges since they were read last."""
        self.source_files.index_into(self.store, self._derive_moved)

    def _bring_up_to_date(self) -> None:
        if self.store.unwritable:
            return
        self.read_banks()
        self.order_new_cards()
        if self.store.scheduling != self.settings.scheduling:
            self.derive_all()

    def order_new_cards(self) -> None:
        """Puts unseen cards into the order of the level that is set, where they are in another."""
        if self.store.note(ORDERED_FOR) == self.settings.level:
            return
        from attncli.practice.derive import rebuild_queue

        with self.store.transaction():
            rebuild_queue(self.store, self.settings.level)
        self.store.keep_note(ORDERED_FOR, self.settings.level)

    def _derive_moved(self, subjects: list[str]) -> None:
        from attncli.practice.derive import derive_subjects

        derive_subjects(self, subjects)

    @cached_property
    def library(self) -> Library:
        """The cards and challenges there are."""
        from attncli.practice.library import Library

        return Library(self.store)

    @cached_property
    def policy(self) -> SchedulePolicy:
        """What schedules follow from, besides the reviews: the settings and the last fit in the log."""
        from attncli.memory.scheduler import SchedulePolicy

        in_force = self.fit_in_force()
        self._fit = in_force.id
        return SchedulePolicy(
            parameters=in_force.weights,
            desired_retention=self.settings.desired_retention,
            learning_steps=self.settings.learning_steps,
            relearning_steps=self.settings.relearning_steps,
            maximum_interval_days=self.settings.maximum_interval_days,
            fuzz=self.settings.fuzz,
            topic_retention=self.settings.topic_retention,
        )

    @cached_property
    def scheduler(self) -> Scheduler:
        """Loads FSRS (some 50 ms), so it is asked for only where a schedule is made."""
        from attncli.memory.scheduler import Scheduler

        return Scheduler(self.policy)

    def card_scheduler(self, card: str) -> Scheduler:
        """The scheduler of a card: its topic may want a retention of its own."""
        if not self.policy.topic_retention:
            return self.scheduler
        topic = self.store.index.topic_of(card)
        if topic not in self._topic_schedulers:
            from attncli.memory.scheduler import Scheduler

            self._topic_schedulers[topic] = Scheduler(self.policy.for_topic(topic))
        return self._topic_schedulers[topic]

    @cached_property
    def challenge_scheduler(self) -> Scheduler:
        from attncli.memory.scheduler import Scheduler

        return Scheduler(self.policy.without_steps())

    def moment(self, at: datetime | None = None) -> Moment:
        """The present (or `at`) as the queue needs it."""
        now = at or self.clock()
        if not FIRST_YEAR <= now.year <= LAST_YEAR:
            raise UsageError(f"the moment {now.isoformat()} is no present; set the clock of this machine")
        day = self.calendar.day(now)
        interview = self.settings.interview
        bounds = (self.calendar.starts_at(day), self.calendar.ends_at(day))
        if interview is None or interview.toordinal() <= day:
            return Moment(now, day, *bounds)
        return Moment(now, day, *bounds, interview.toordinal(), self._pass_days(interview.toordinal() - day))

    def _pass_days(self, days_left: int) -> int:
        """How many days the last pass before the interview has, if it has begun; otherwise 0."""
        from attncli.memory.queue_order import LONGEST_PASS_DAYS, REVIEW_SECONDS, pass_days

        if days_left > LONGEST_PASS_DAYS:
            return 0
        days = pass_days(self.store.queue.count_seen() * REVIEW_SECONDS, self.settings.minutes_per_day * 60)
        return days if days_left <= days else 0

    def derive_all(self, progress: Callable[[int], None] | None = None) -> int:
        """Derives everything anew from the log; the number of subjects. `progress` is told how many are done."""
        from attncli.practice.derive import derive_everything

        with self.store.transaction():
            return derive_everything(self, progress)

    def catch_up(self) -> None:
        """Makes sure that what is derived now fits what is stored; inside a transaction.

        Where the settings that the schedules follow are neither the ones here nor those of `config.toml`, all is
        derived anew at the next start.
        """
        if not self.take_over():
            self.store.remember_scheduling("")

    def take_over(self) -> bool:
        """Takes over the settings and the fit that another process brought into force; whether the settings agree."""
        in_force = self.store.scheduling
        if in_force != self.settings.scheduling and (settings := self._settings_now()).scheduling == in_force:
            self.settings = settings
            self.forget_policy()
        if "policy" in self.__dict__ and self._fit != self.fit_in_force().id:
            self.forget_policy()
        return in_force == self.settings.scheduling

    def fit_in_force(self) -> FitInForce:
        """What the log holds now, whatever the policy was made of."""
        from attncli.memory.replay import fit_in_force

        return fit_in_force(self.store.log.fits())

    def _settings_now(self) -> Settings:
        try:
            latest = load_settings(self.home.config, {})
        except (ConfigInvalid, EnvironmentFailure):
            return self.settings
        return replace(self.settings, **{key: getattr(latest, key) for key in SCHEDULING_KEYS})

    def adopt(self, settings: Settings) -> None:
        """Goes on with `settings`; what schedules follow from is the same in them."""
        self.settings = settings
        self.calendar = StudyCalendar(settings.day_start)

    def forget_policy(self) -> None:
        """Reads the fit from the log again when it is next needed."""
        for name in ("policy", "scheduler", "challenge_scheduler"):
            self.__dict__.pop(name, None)
        self._topic_schedulers.clear()

    def close(self) -> None:
        """Closes the database; the first time on a study day that something was recorded, a copy of it is kept.

        A large database is left to those who have the time for it: the app, `sync`, `import`, `doctor`.
        """
        try:
            if self.store.has_new_rows:
                self.keep_daily_copy(COPIED_AT_ONCE_BYTES)
        finally:
            self.store.close()

    def keep_daily_copy(self, largest_bytes: int = COPIED_WITH_TIME_BYTES) -> None:
        """Keeps today's copy if there is none yet and the database is no larger than `largest_bytes`."""
        day = self.moment().day
        today = self.home.backups / f"{date.fromordinal(day).isoformat()}-daily.db"
        if self.store.unwritable or today.exists() or self.home.database.stat().st_size > largest_bytes:
            return

        keep_daily_copy(self.store, self.home, day)

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _keep_before_migration(store: Database, home: paths.Home, clock: Clock) -> None:

    copy_before_migration(home, clock)(store)


# The copies of the database that are kept without being asked for: one a study day, one before its shape changes.


def keep_daily_copy(store: Database, home: Home, day: int) -> None:
    """Keeps today's copy; where that cannot be (no room, no permission, damage) the ones of before stay."""
    with contextlib.suppress(StoreError, OSError):
        backups.keep_copy(store, home.backups, backups.DAILY, datetime.fromordinal(day))


def copy_before_migration(home: Home, clock: Callable[[], datetime]) -> Callable[[Database], None]:
    """What keeps a copy of a database in its old shape."""

    def keep(store: Database) -> None:
        with contextlib.suppress(StoreError, OSError):
            backups.keep_copy(store, home.backups, backups.BEFORE_MIGRATION, clock())

    return keep


def newest_copy(home: Home) -> date | None:
    """The day of the newest automatic copy."""
    found = backups.copies(home.backups)
    return date.fromisoformat(found[0].name[:10]) if found else None


# The first run: when it comes, which questions it asks before the first card, and what follows from an answer.

QUESTIONS = ("lang", "interview", "level", "minutes_per_day")
MINUTES_A_NEW_CARD = 3
"""What a new card takes over the weeks: a minute to learn, the rest for its first reviews."""


def is_first_run(workspace: Workspace) -> bool:
    """Whether nothing was ever answered or set here, and what is told now can be kept."""
    store = workspace.store
    return not store.unwritable and not workspace.home.config.exists() and not store.log.length()


def answer(workspace: Workspace, question: str, text: str) -> None:
    """Keeps one answer, if it is another than what is set; minutes tell besides how many new cards a day brings.

    Raises ConfigInvalid for an answer that does not fit, EnvironmentFailure where it cannot be written.
    """
    if text == kept_settings(workspace).text(question):
        return
    change_setting(workspace, question, text)
    if question == "minutes_per_day":
        minutes = workspace.settings.minutes_per_day
        change_setting(workspace, "new_per_day", str(max(1, minutes // MINUTES_A_NEW_CARD)))


def do_not_ask_again(workspace: Workspace) -> None:
    """The language that is shown is kept, whatever else was answered: what is set is not asked."""
    change_setting(workspace, "lang", workspace.lang)


# Reading and changing settings while something is open: what is kept, and what is in force already.

AS_TYPED = ("editor",)
"""Of all others the full-width digits of a Chinese input method mean the same as their twins."""


def kept_settings(workspace: Workspace) -> Settings:
    """What `config.toml` says; the language is the one that is shown. Raises ConfigInvalid, EnvironmentFailure."""
    return replace(load(workspace.home.config, {}), lang=workspace.lang)


def with_topics_named(workspace: Workspace, key: str, text: str = "") -> tuple[str, str]:
    """`key` and `text` with each topic in them as it is called. Raises NotFound for a wrong one, with a guess."""
    if topic := topic_in(key):
        return f"{PER_TOPIC}.{workspace.library.topic(topic).id}", text
    if key != PER_TOPIC or not all("=" in pair for pair in text.split()):
        return key, text
    pairs = [pair.partition("=") for pair in text.split()]
    return key, " ".join(f"{workspace.library.topic(topic).id}{equals}{number}" for topic, equals, number in pairs)


def change_setting(workspace: Workspace, key: str, text: str) -> bool:
    """Keeps the setting; whether it is in force already: what all schedules follow from waits for the next start.

    Raises ConfigInvalid for a value that does not fit, EnvironmentFailure where it cannot be written; then nothing has
    changed.
    """
    today = date.fromordinal(workspace.moment().day)
    if key not in AS_TYPED:
        text = unicodedata.normalize("NFKC", text)
    save(workspace.home.config, *with_topics_named(workspace, key, text), today)
    if key in SCHEDULING_KEYS or topic_in(key):
        return False
    workspace.adopt(replace(workspace.settings, **{key: getattr(load(workspace.home.config, {}), key)}))
    try:
        workspace.order_new_cards()
    except (StoreBusy, StoreUnwritable):
        return False
    return True
