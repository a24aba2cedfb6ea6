"""The learner's settings: `config.toml`, read with tomllib and written with tomlkit, so that comments survive.

A value passes `_READERS[key]`, whether it comes from the file or from `attn config KEY VALUE`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, time, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from attncli.domain.vocabulary import RUNGS, CaseRung
from attncli.errors import ConfigInvalid, EnvironmentFailure, UsageError, did_you_mean, unreadable, unwritable
from attncli.i18n import LANGS, Lang, Localised, _

THEMES = ("dark", "light", "contrast")
LEVEL_CHOICES = ("any", "screen", "onsite", "research")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
EASY_PERCENT = 50
MOST_MINUTES_PER_DAY = 960


class Settings(NamedTuple):
    """Every setting, with its default.

    Each key of `config.toml` is one attribute; `attn config KEY VALUE` reads values written as text.
    """

    lang: Lang = "en"
    """Language of cards and messages: en or zh."""
    interview: date | None = None
    """The day of the interview, or empty."""
    interview_since: date | None = None
    """The day on which the interview was set; written with it."""
    level: str = "any"
    """The level of the interview: screen, onsite or research; new cards up to that level come first."""
    minutes_per_day: int = 30
    """The minutes a day that the plan for the interview and, once it is set, the review queue may fill."""
    easy_days: tuple[tuple[str, int], ...] = ()
    """Weekdays with less time, each with the percentage of the minutes that is left; empty for none."""
    code_share: int = 33
    """The percentage of the minutes that goes to challenges once a date is set."""
    desired_retention: float = 0.9
    """The recall that intervals aim at, 0.7 to 0.97."""
    new_per_day: int = 10
    """The most unseen cards that a study day brings."""
    day_start: time = time(4, 0)
    """The local time at which a study day begins."""
    fuzz: bool = True
    """Spread intervals a little."""
    learning_steps: tuple[timedelta, ...] = (timedelta(minutes=1), timedelta(minutes=10))
    """Delays between the first answers to a new card; empty for none."""
    relearning_steps: tuple[timedelta, ...] = (timedelta(minutes=10),)
    """Delays after a card was forgotten; empty for none."""
    maximum_interval_days: int = 36_500
    """No interval is longer."""
    topic_retention: tuple[tuple[str, float], ...] = ()
    """Topics with another desired retention, such as att=0.95 kv=0.85; a table in the file."""
    theme: str = "dark"
    """The app's colours: dark, light, or contrast (black and white, bold)."""
    reduced_motion: bool = False
    """Animate nothing in the app: lists jump instead of gliding."""
    answer_timer: bool = False
    """Count down 30 seconds for an answer said aloud."""
    diagnosis: bool = True
    """Name the likely mistake of a rejected solution at once; otherwise when it is asked for."""
    editor: str = ""
    """The command that opens a file; empty: $VISUAL, then $EDITOR."""
    rung: CaseRung = "solved"
    """The rung that `attn grade` accepts: solved (right at the whiteboard) or hardened (production)."""

    @property
    def scheduling(self) -> str:
        """A text that is equal for two settings if and only if all schedules are."""
        return " ".join(f"{key}={text}" for key in SCHEDULING_KEYS if (text := self.text(key)))

    def text(self, key: str) -> str:
        """Return the value of `key` as `attn config` prints and reads it; for a topic, its own or the general one."""
        if topic := topic_in(key):
            return _as_text(dict(self.topic_retention).get(topic, self.desired_retention))
        return _as_text(getattr(self, key))


PER_TOPIC = "topic_retention"
_STEPS = ("learning_steps", "relearning_steps")
SCHEDULING_KEYS = ("desired_retention", *_STEPS, "maximum_interval_days", "fuzz", PER_TOPIC)
SWITCHES = ("fuzz", "reduced_motion", "answer_timer", "diagnosis")
KEYS: tuple[str, ...] = tuple(key for key in Settings._fields if key != "interview_since")

NAMES: dict[str, Localised] = {
    "lang": _("Language"),
    "desired_retention": _("Desired retention"),
    "topic_retention": _("Retention by topic"),
    "new_per_day": _("New cards per day"),
    "day_start": _("Day starts at"),
    "fuzz": _("Spread due dates"),
    "learning_steps": _("Learning steps"),
    "relearning_steps": _("Relearning steps"),
    "maximum_interval_days": _("Longest interval"),
    "theme": _("Theme"),
    "reduced_motion": _("Reduced motion"),
    "answer_timer": _("Answer timer"),
    "diagnosis": _("Likely mistake"),
    "editor": _("Editor"),
    "rung": _("Challenges pass when"),
    "interview": _("Interview"),
    "level": _("Interview level"),
    "minutes_per_day": _("Minutes per day"),
    "easy_days": _("Easy days"),
    "code_share": _("Share of code"),
}
EXPLAINED: dict[str, Localised] = {
    "lang": _("Language of cards, screens and messages. Press l anywhere to switch."),
    "desired_retention": _(
        "Share of cards to recall in a review, 0.7 to 0.97. More costs time: at 0.95, intervals are 0.4 times as long "
        "as at 0.9."
    ),
    "topic_retention": _("Topics with their own desired retention, e.g. att=0.95 kv=0.85; empty for none."),
    "new_per_day": _(
        "New cards per day at most, 0 to 9999. Each new card comes back several times in its first weeks."
    ),
    "day_start": _("Local time at which a new day starts, e.g. 04:00. Earlier answers count for the day before."),
    "fuzz": _("Vary intervals by a few days, so that cards learned together are not always due together."),
    "learning_steps": _("Delays between the first answers to a new card, e.g. 1m 10m; empty for none."),
    "relearning_steps": _("Delays after a card was forgotten, e.g. 10m; empty for none."),
    "maximum_interval_days": _("Longest interval of a card, in days."),
    "theme": _("Dark, light, or contrast (white on black, no grey). Ctrl+T switches between dark and light."),
    "reduced_motion": _("Jump instead of scrolling smoothly."),
    "answer_timer": _("Count down 30 seconds for a spoken answer. You are not interrupted."),
    "diagnosis": _("Name the likely mistake of a rejected solution at once. If no, press v in the report to see it."),
    "editor": _("Command that opens a solution, e.g. vim or code --wait; empty for $VISUAL, then $EDITOR."),
    "rung": _("solved: correct at the whiteboard; hardened: ready for production."),
    "interview": _("Date of the interview, e.g. 31 Mar, 2027-03-31 or in 3 weeks; empty for none."),
    "level": _(
        "Level of the interview: screen (first call), onsite (full loop) or research. New cards and challenges up to "
        "this level come first; drills and quizzes ask nothing above it."
    ),
    "minutes_per_day": _("Minutes per day, 1 to 960. Without an interview date, only a value set here limits a day."),
    "easy_days": _("Weekdays with less time, as a percentage of the usual minutes, e.g. sat=50 sun=0; empty for none."),
    "code_share": _("Percentage of the minutes for challenges once a date is set, 0 to 90; met over a week."),
}
"""The effect of each setting, and the form of its value."""


def default_lang(environ: Mapping[str, str]) -> Lang:
    """Return the language of the locale in the environment."""
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := environ.get(variable):
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


def load(path: Path, environ: Mapping[str, str]) -> Settings:
    """Read the settings in `path`; missing keys, and all keys of a missing file, get their defaults.

    Raises ConfigInvalid that names all problems of the file, EnvironmentFailure if it may not be read.
    """
    settings = Settings(lang=default_lang(environ))
    values, problems = dict[str, Any](), list[Localised]()
    for key, value in _parse(_read(path), path).items():
        try:
            values[key] = _READERS[known_key(key)](value)
        except ConfigInvalid as problem:
            problems.append(_of(key, problem) if isinstance(problem, _Unfit) else problem.message)
    if problems:
        raise ConfigInvalid(_("{path}: {problems}", path=path, problems=_("; ").join(problems)))
    return settings._replace(**values)


def is_set(path: Path, key: str) -> bool:
    """Return whether the file sets `key`."""
    return key in _parse(_read(path), path)


def save(path: Path, key: str, text: str, today: date | None = None) -> None:
    """Set `key` to the value in `text` and write the file.

    Given `today`, the interview may be typed as people do, such as `in 3 weeks`; a past one is refused.

    Raises ConfigInvalid for an unknown key or an invalid value, EnvironmentFailure if the file cannot be written;
    then nothing has changed.
    """
    import tomlkit

    if topic := topic_in(key):
        key, text = PER_TOPIC, _with_topic(load(path, {}), topic, text)
    try:
        value = _typed_date(text, today) if key == "interview" else _READERS[known_key(key)](_from_text(key, text))
    except _Unfit as problem:
        raise ConfigInvalid(_of(key, problem)) from problem
    before = _read(path)
    _parse(before, path)
    document = tomlkit.parse(before)
    if key == PER_TOPIC:
        document.pop(key, None)
        if value:
            document[key] = dict(value)
    else:
        stored = value if isinstance(value, bool | int | float) else _as_text(value)
        if key == "interview" and stored != document.get(key):
            document["interview_since"] = _as_text(today)
        document[key] = stored
    _write(path, tomlkit.dumps(document))


def _typed_date(text: str, today: date | None) -> Any:
    if not text or today is None:
        return _date(text)
    from attncli.domain.dates import read_date  # `attn due` reads none

    try:
        value = read_date(text, today)
    except UsageError as problem:
        raise _Unfit(problem.message) from problem
    if value < today:
        raise _Unfit(_("{value} is in the past; give a future date, or leave it empty", value=value))
    return value


def known_key(key: str) -> str:
    """Return `key` if there is such a setting. Raises ConfigInvalid that suggests the nearest one."""
    if key in _READERS or topic_in(key):
        return key
    hint = did_you_mean(key, KEYS, _("use one of {names}", names=", ".join(KEYS)))
    raise ConfigInvalid(_("unknown setting {key}; {hint}", key=key, hint=hint))


def topic_in(key: str) -> str:
    """Return the topic in a key such as `topic_retention.att`; empty for any other key."""
    return key[len(PER_TOPIC) + 1 :] if key.startswith(f"{PER_TOPIC}.") else ""


def _with_topic(settings: Settings, topic: str, text: str) -> str:
    """Return the retentions of all topics as text, with one replaced, or removed if `text` is empty."""
    texts = {other: f"{retention:g}" for other, retention in settings.topic_retention} | {topic: text}
    return " ".join(f"{topic}={text}" for topic, text in texts.items() if text)


# The file


def _read(path: Path) -> str:
    """Return the text of the file, empty if there is none."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except PermissionError as error:
        remedy = _("make it readable, or choose another folder with --home")
        raise EnvironmentFailure(unreadable(path, error, remedy)) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigInvalid(unreadable(path, error, _("fix or delete it"))) from error


def _parse(text: str, path: Path) -> dict[str, Any]:
    if not text:  # without settings the parser need not be imported
        return {}
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigInvalid(
            _("{path} is not valid TOML ({error}); fix or delete it", path=path, error=error)
        ) from error


def _write(path: Path, text: str) -> None:
    from attncli.paths import write_whole

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, [text])
    except OSError as error:
        raise EnvironmentFailure(unwritable(path, error, _("make its folder writable"), at_home=True)) from error


# Readers of values


class _Unfit(ConfigInvalid):
    """A value does not fit its key; the message describes valid ones."""


def _of(key: str, problem: _Unfit) -> Localised:
    return _("{key}: {problem}", key=key, problem=problem.message)


_STEP_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def _one_of(*allowed: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value in allowed:
            return str(value)
        raise _Unfit(_("{value!r} is invalid; use one of {names}", value=value, names=", ".join(allowed)))

    return read


def _number(least: float, most: float) -> Callable[[Any], float]:
    def read(value: Any) -> float:
        if isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most:
            return float(value)
        raise _Unfit(_("{value!r} is not a number from {least} to {most}", value=value, least=least, most=most))

    return read


def _whole(least: int, most: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        raise _Unfit(_("{value!r} is not a whole number from {least} to {most}", value=value, least=least, most=most))

    return read


def _switch(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise _Unfit(_("{value!r} is invalid; use true or false", value=value))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise _Unfit(_("{value!r} is not text; put it in quotes", value=value))


def _time(value: Any) -> time:
    match = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", value if isinstance(value, str) else "")
    if not match:
        raise _Unfit(_("{value!r} is not a time; write it like 04:00", value=value))
    return time(int(match[1]), int(match[2]))


def _steps(value: Any) -> tuple[timedelta, ...]:
    words = value.split() if isinstance(value, str) else [None]
    steps = [re.fullmatch(r"(\d{1,4})([smhd])", word or "") for word in words]
    if not all(steps):
        raise _Unfit(
            _("{value!r} is not a list of delays; write it like 1m 10m (s, m, h or d; empty for none)", value=value)
        )
    found = tuple(timedelta(seconds=int(step[1]) * _STEP_UNITS[step[2]]) for step in steps if step)
    if any(step <= timedelta(0) or step > timedelta(days=30) for step in found):
        raise _Unfit(_("{value!r} has a delay outside 1s to 30d", value=value))
    return found


def _date(value: Any) -> date | None:
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(value) if value else None
    except (TypeError, ValueError):
        raise _Unfit(_("{value!r} is not a date; write it like 2027-03-31", value=value)) from None


def _topic_retention(value: Any) -> tuple[tuple[str, float], ...]:
    if not isinstance(value, dict):
        raise _Unfit(
            _(
                "{value!r} is not a list of topics; write it like att=0.95 kv=0.85 (a table in the "
                "file; empty for none)",
                value=value,
            )
        )
    for topic in value:
        if not re.fullmatch(r"[\w-]{1,64}", topic):
            raise _Unfit(_("{topic!r} is not a topic name", topic=topic))
    return tuple((topic, _retention_of(topic, value[topic])) for topic in sorted(value))


def _retention_of(topic: str, value: Any) -> float:
    try:
        return _number(0.7, 0.97)(value)
    except _Unfit as problem:
        raise _Unfit(_of(topic, problem)) from problem


def _easy_days(value: Any) -> tuple[tuple[str, int], ...]:
    words = value.lower().split() if isinstance(value, str) else [None]
    found = [re.fullmatch(r"([a-z]{3})(?:=(\d{1,3})%?)?", word or "", re.ASCII) for word in words]
    days = [(day[1], int(day[2] or EASY_PERCENT)) for day in found if day]
    if len(days) < len(words) or any(day not in WEEKDAYS or percent > 100 for day, percent in days):
        raise _Unfit(
            _(
                "{value!r} is not a list of weekdays; write it like sat=50 sun=0 (mon to sun, 0 to "
                "100%; empty for none)",
                value=value,
            )
        )
    if len(dict(days)) < len(days):
        raise _Unfit(_("{value!r} lists a weekday twice", value=value))
    return tuple(sorted(days, key=lambda day: WEEKDAYS.index(day[0])))


_READERS: dict[str, Callable[[Any], Any]] = {
    "lang": _one_of(*LANGS),
    "desired_retention": _number(0.7, 0.97),
    PER_TOPIC: _topic_retention,
    "new_per_day": _whole(0, 9999),
    "day_start": _time,
    **dict.fromkeys(_STEPS, _steps),
    "maximum_interval_days": _whole(1, 36_500),
    "theme": _one_of(*THEMES),
    **dict.fromkeys(SWITCHES, _switch),
    "editor": _text,
    "rung": _one_of(*RUNGS),
    **dict.fromkeys(("interview", "interview_since"), _date),
    "level": _one_of(*LEVEL_CHOICES),
    "minutes_per_day": _whole(1, MOST_MINUTES_PER_DAY),
    "easy_days": _easy_days,
    "code_share": _whole(0, 90),
}


# Text to TOML values and back

_SWITCH_WORDS = dict.fromkeys(("true", "on", "yes", "1"), True) | dict.fromkeys(("false", "off", "no", "0"), False)


def _from_text(key: str, text: str) -> Any:
    """Return `text` as the TOML value of `key`; invalid text stays text, and the reader of the key refuses it."""
    if key in SWITCHES:
        return _SWITCH_WORDS.get(text.lower(), text)
    whole = key in ("new_per_day", "maximum_interval_days", "minutes_per_day", "code_share")
    if whole and re.fullmatch(r"[+-]?\d{1,9}", text, re.ASCII):
        return int(text)
    if key == "desired_retention":
        return _as_number(text)
    if key == PER_TOPIC and all("=" in pair for pair in text.split()):
        return {topic: _as_number(number) for topic, _, number in (pair.partition("=") for pair in text.split())}
    return text


def _as_number(text: str) -> float | str:
    return float(text) if re.fullmatch(r"[+-]?\d{1,9}(\.\d*)?|\.\d+", text, re.ASCII) else text


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, time):
        return f"{value:%H:%M}"
    if isinstance(value, tuple):
        return " ".join(_step_text(p) if isinstance(p, timedelta) else f"{p[0]}={p[1]:g}" for p in value)
    return str(value)


def _step_text(step: timedelta) -> str:
    seconds = int(step.total_seconds())
    unit = next(unit for unit in ("d", "h", "m", "s") if seconds % _STEP_UNITS[unit] == 0)
    return f"{seconds // _STEP_UNITS[unit]}{unit}"
