"""Open a learner's home: settings, database, card banks and clock; and change its settings.

Every use case takes a `Workspace`. The clock is an argument of it, so that nothing below the command line reads the
time. Schedules are derived from the log: they are derived again when the settings that they follow have changed.

`attn due` opens one for each prompt, so modules that it does not need are imported inside functions.
"""

from __future__ import annotations

import contextlib
import unicodedata
from collections.abc import Callable
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from attncli import paths
from attncli.config import PER_TOPIC, SCHEDULING_KEYS, Settings, load, save, topic_in
from attncli.errors import ConfigInvalid, EnvironmentFailure, StoreBusy, StoreError, StoreUnwritable, UsageError
from attncli.i18n import Lang, _
from attncli.memory.scheduler import SchedulePolicy, Scheduler, StudyCalendar
from attncli.practice.library import Library, SourceFiles
from attncli.store.database import Database
from attncli.store.schedules import ORDERED_FOR, Moment

if TYPE_CHECKING:
    from attncli.memory.replay import FitInForce

Clock = Callable[[], datetime]
FIRST_YEAR, LAST_YEAR = 2, 9998

# Copying and checking so much takes a tenth of a second, once a day, after the answer is on disk.
COPIED_AT_ONCE_BYTES = 16 * 2**20
COPIED_WITH_TIME_BYTES = 2**30

QUESTIONS = ("lang", "interview", "level", "minutes_per_day")
"""The settings that the first run asks for."""
MINUTES_A_NEW_CARD = 3
"""Time that a new card takes over the weeks: a minute to learn, the rest for its first reviews."""
AS_TYPED = ("editor",)
"""Settings whose text is kept as typed; in all others full-width digits and letters are normalised."""


class Workspace:
    """Everything a use case needs. Open it with `Workspace.open`, close it or use it as a context manager.

    `clock` returns the current time as an aware datetime. `lang` overrides the language of the settings. Opening reads
    bank files that have changed, and derives all schedules again if the settings that they follow have changed.
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

    @staticmethod
    def open(
        home: paths.Home,
        clock: Clock,
        lang: Lang | None = None,
        settings: Settings | None = None,
        quizbank: Path | None = None,
        impl: Path | None = None,
        at: datetime | None = None,
    ) -> Workspace:
        """Open the learner's folder `home`; `quizbank` and `impl` replace the bundled banks and challenges.

        Rows count until a day after now, or after `at` if that is later.
        Raises ConfigInvalid, StoreError, StoreCorrupt.
        """
        settings = settings or load(home.config, {})
        source_files = SourceFiles(
            quizbank=quizbank or paths.bundled_quizbank(),
            impl=impl or paths.bundled_impl(),
            own_banks=home.banks,
            own_challenges=home.challenges,
        )
        home.keep_private()
        store = Database.open(home.database, clock, at)
        workspace = Workspace(home, clock, settings, lang or settings.lang, store, source_files)
        try:
            workspace._bring_up_to_date()
        except BaseException:
            store.close()
            raise
        return workspace

    def beside(self) -> Workspace:
        """Open another workspace over the same data, for another thread."""
        files = self.source_files
        return Workspace.open(self.home, self.clock, self.lang, self.settings, files.quizbank, files.impl)

    def reader(self) -> Workspace:
        """Open another workspace for a thread that only reads; it does not look for changed bank files."""
        store = Database.open(self.home.database, self.clock)
        return Workspace(self.home, self.clock, self.settings, self.lang, store, self.source_files)

    def read_banks(self) -> None:
        """Index the bank and challenge files that have changed."""

        def derive(subjects: list[str]) -> None:
            from attncli.practice.derive import derive_subjects

            derive_subjects(self, subjects)

        self.source_files.index_into(self.store, derive)

    def _bring_up_to_date(self) -> None:
        self.read_banks()
        self.order_new_cards()
        if self.store.note("scheduling") != self.settings.scheduling:
            self.derive_all()
        else:
            self.derive_stale()

    def catch_up(self) -> None:
        """Load rows of the history that the cache lacks, and derive their schedules."""
        self.store.catch_up()
        self.derive_stale()

    def derive_stale(self) -> None:
        """Derive the schedules of subjects whose rows came from other processes or machines."""
        stale = self.store.stale_subjects()
        if not stale:
            return
        from attncli.practice.derive import derive_everything, derive_subjects

        with self.store.transaction():
            self.follow_settings()
            if "" in stale:  # a fit, which changes every schedule
                self.forget_policy()
                derive_everything(self)
            else:
                derive_subjects(self, stale)
            self.store.none_is_stale()

    def order_new_cards(self) -> None:
        """Sort unseen cards for the level in the settings, unless they are sorted for it already."""
        if self.store.note(ORDERED_FOR) == self.settings.level:
            return
        from attncli.practice.derive import rebuild_queue

        with self.store.transaction():
            rebuild_queue(self.store, self.settings.level)
        self.store.keep_note(ORDERED_FOR, self.settings.level)

    @cached_property
    def library(self) -> Library:
        return Library(self.store)

    @cached_property
    def policy(self) -> SchedulePolicy:
        """Scheduling parameters: the settings and the last fit in the log."""
        fit = self.fit_in_force()
        self._fit = fit.id
        return SchedulePolicy(
            parameters=fit.weights,
            desired_retention=self.settings.desired_retention,
            learning_steps=self.settings.learning_steps,
            relearning_steps=self.settings.relearning_steps,
            maximum_interval_days=self.settings.maximum_interval_days,
            fuzz=self.settings.fuzz,
            topic_retention=self.settings.topic_retention,
        )

    @cached_property
    def scheduler(self) -> Scheduler:
        """The scheduler for topics without their own retention; making it loads FSRS (some 50 ms)."""
        return Scheduler(self.policy)

    def card_scheduler(self, card: str) -> Scheduler:
        """Return the scheduler for a card: its topic may have its own desired retention."""
        if not self.policy.topic_retention:
            return self.scheduler
        topic = self.store.index.topic_of(card)
        retention = dict(self.policy.topic_retention).get(topic, self.policy.desired_retention)
        return Scheduler(self.policy._replace(desired_retention=retention))

    @cached_property
    def challenge_scheduler(self) -> Scheduler:
        return Scheduler(self.policy.without_steps())

    def moment(self, at: datetime | None = None) -> Moment:
        """Return the current moment (or `at`) with its study day.

        Raises UsageError for a year outside 2…9998.
        """
        now = at or self.clock()
        if not FIRST_YEAR <= now.year <= LAST_YEAR:
            raise UsageError(_("{now} cannot be the current time; set this machine's clock", now=now.isoformat()))
        day = self.calendar.day(now)
        return Moment(now, day, self.calendar.starts_at(day), self.calendar.ends_at(day))

    def derive_all(self, progress: Callable[[int], None] | None = None) -> int:
        """Derive everything again from the log; return how many subjects. `progress` gets the count so far."""
        from attncli.practice.derive import derive_everything

        with self.store.transaction():
            count = derive_everything(self, progress)
            self.store.none_is_stale()
        return count

    def reload_settings(self) -> bool:
        """Apply the settings and the fit that another process put in force.

        Return False if the schedules in the database follow other settings than these.
        """
        scheduling = self.store.note("scheduling")
        if scheduling != self.settings.scheduling:
            settings = self._scheduling_settings()
            if settings.scheduling == scheduling:
                self.settings = settings
                self.forget_policy()
        if "policy" in self.__dict__ and self._fit != self.fit_in_force().id:
            self.forget_policy()
        return scheduling == self.settings.scheduling

    def follow_settings(self) -> None:
        """Do as `reload_settings`; if it fails, all schedules are derived again at the next start."""
        if not self.reload_settings():
            self.store.keep_note("scheduling", "")

    def fit_in_force(self) -> FitInForce:
        """Return the last fit in the log now, even if `policy` was made from an earlier one."""
        from attncli.domain.log_row import RowKind
        from attncli.memory.replay import fit_in_force

        return fit_in_force(self.store.log.standing_of_kind(RowKind.FIT))

    def _scheduling_settings(self) -> Settings:
        """Return these settings with the current scheduling values of `config.toml`; unchanged if it cannot be read."""
        try:
            latest = load(self.home.config, {})
        except (ConfigInvalid, EnvironmentFailure):
            return self.settings
        return self.settings._replace(**{key: getattr(latest, key) for key in SCHEDULING_KEYS})

    def adopt(self, settings: Settings) -> None:
        """Apply `settings` that have the same scheduling values as the current ones."""
        self.settings = settings
        self.calendar = StudyCalendar(settings.day_start)

    def forget_policy(self) -> None:
        """Discard policy and schedulers, so that the fit is read again when next needed."""
        for name in ("policy", "scheduler", "challenge_scheduler"):
            self.__dict__.pop(name, None)

    def close(self) -> None:
        """Close the database, after making the daily copy if something was recorded.

        A large database is not copied here; the app, `sync`, `import` and `doctor` take the time for it.
        """
        try:
            if "log" in vars(self.store) and self.store.log.has_grown:
                self.keep_daily_copy(COPIED_AT_ONCE_BYTES)
        finally:
            self.store.close()

    def keep_daily_copy(self, largest_bytes: int = COPIED_WITH_TIME_BYTES) -> None:
        """Copy the database to the backups folder, once a study day; skip it above `largest_bytes`.

        If the copy cannot be made (no room, no permission, damage), earlier copies stay.
        """
        from attncli.practice import backups

        day = date.fromordinal(self.moment().day)
        size = sum(self.store.history.sizes().values())
        if self.store.unwritable or size > largest_bytes or backups.daily_copy(self.home.backups, day).exists():
            return
        rows, now = self.store.log.everything(), datetime.fromordinal(day.toordinal())
        with contextlib.suppress(StoreError, OSError):
            backups.keep_copy(rows, size, self.home.backups, backups.DAILY, now)

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# The first run


def is_first_run(workspace: Workspace) -> bool:
    """Return True if nothing was ever answered or set here, and the database can be written."""
    store = workspace.store
    return not store.unwritable and not workspace.home.config.exists() and not store.log.length()


def answer(workspace: Workspace, question: str, text: str) -> None:
    """Save one answer of the first run if it changes a setting; minutes a day also set the new cards a day.

    Raises ConfigInvalid for an invalid answer, EnvironmentFailure if it cannot be written.
    """
    if text == saved_settings(workspace).text(question):
        return
    change_setting(workspace, question, text)
    if question == "minutes_per_day":
        minutes = workspace.settings.minutes_per_day
        change_setting(workspace, "new_per_day", str(max(1, minutes // MINUTES_A_NEW_CARD)))


def do_not_ask_again(workspace: Workspace) -> None:
    """Save the language that is shown, so that the first run does not come again."""
    change_setting(workspace, "lang", workspace.lang)


# Settings


def saved_settings(workspace: Workspace) -> Settings:
    """Return the settings in `config.toml`, with the language that is shown. Raises ConfigInvalid,
    EnvironmentFailure.
    """
    return load(workspace.home.config, {})._replace(lang=workspace.lang)


def with_topics_named(workspace: Workspace, key: str, text: str = "") -> tuple[str, str]:
    """Return `key` and `text` with each topic in them replaced by its id.

    Raises NotFound for an unknown topic, with the nearest one.
    """
    if topic := topic_in(key):
        return f"{PER_TOPIC}.{workspace.library.topic(topic).id}", text
    if key != PER_TOPIC or not all("=" in pair for pair in text.split()):
        return key, text
    pairs = [pair.partition("=") for pair in text.split()]
    return key, " ".join(f"{workspace.library.topic(topic).id}{equals}{number}" for topic, equals, number in pairs)


def change_setting(workspace: Workspace, key: str, text: str) -> bool:
    """Save a setting. Return False if it takes effect at the next start only, as scheduling settings do.

    Raises ConfigInvalid for an invalid value, EnvironmentFailure if it cannot be written; then nothing has changed.
    """
    today = date.fromordinal(workspace.moment().day)
    if key not in AS_TYPED:
        text = unicodedata.normalize("NFKC", text)
    save(workspace.home.config, *with_topics_named(workspace, key, text), today)
    if key in SCHEDULING_KEYS or topic_in(key):
        return False
    saved = load(workspace.home.config, {})
    changed = {key: getattr(saved, key), "interview_since": saved.interview_since}
    workspace.adopt(workspace.settings._replace(**changed))
    try:
        workspace.order_new_cards()
    except (StoreBusy, StoreUnwritable):
        return False
    return True
