"""The commands that set up and serve: `config`, `doctor`, `optimize`, `completion`, `mcp` and `serve`."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from random import Random
from secrets import token_urlsafe
from typing import Any

import click

import attncli
from attncli import config as configuration
from attncli.commands.options import json_option
from attncli.commands.session import (
    COMPLETION_VARIABLE,
    Session,
    echo,
    keep_verdict,
    print_json,
    print_result,
    session,
    show_thousands,
)
from attncli.domain.challenge import CUDA
from attncli.domain.dates import date_words
from attncli.domain.text import left
from attncli.errors import (
    ConfigInvalid,
    EnvironmentFailure,
    StoreCorrupt,
    StoreError,
    TooFewReviews,
    UsageError,
    reason_of,
)
from attncli.i18n import CATALOGUE, N_, Lang, Localised, _, ngettext, pgettext, quoted
from attncli.memory.optimizer import AHEAD_DAYS
from attncli.practice import doctor as health
from attncli.practice.backups import copies
from attncli.practice.optimize import Optimised, optimise
from attncli.practice.review import RATINGS
from attncli.practice.sync import ahead_in_words
from attncli.practice.workspace import with_topics_named

NAME_CELLS = 12

SAME_WITHIN = 0.05
"""A change of the minutes a day by a smaller share is reported as none."""

PORT = 8767
TOKEN_BYTES = 24
START = "import sys; sys.path.append({root!r}); from attncli.__main__ import main; sys.exit(main())"


@click.command(help=N_("Read or set a setting; without KEY, list them all."))
@click.argument("key", required=False)
@click.argument("value", required=False)
def config(key: str | None, value: str | None) -> None:
    current = session()
    if key is None:
        for name in configuration.KEYS:
            echo(f"{name} = {current.settings.text(name)}")
        return
    if key.startswith(configuration.PER_TOPIC):
        with current.workspace() as workspace:
            key, named = with_topics_named(workspace, key, value or "")
        value = None if value is None else named
    if value is None:
        echo(current.settings.text(configuration.known_key(key)))
    else:
        configuration.save(current.home.config, key, value, current.clock().astimezone().date())
        saved = configuration.load(current.home.config, {})
        words = f" ({date_words(saved.interview)[current.lang]})" if key == "interview" and saved.interview else ""
        echo(f"{key} = {saved.text(key) if value else value}{words}")


# `attn doctor`


@click.command(help=N_("Check versions, paths, the sandbox and your history."))
@json_option
@click.option("--rebuild", is_flag=True, help=N_("Rebuild the cache from the history and the banks."))
def doctor(as_json: bool, rebuild: bool) -> None:
    current = session()
    if rebuild:
        count = health.rebuild(current.home, current.workspace, show_thousands)
        echo(ngettext("rebuilt {count} schedule", "rebuilt {count} schedules", count)[current.message_lang], err=True)
    found = _findings(current)
    with keep_verdict():
        print_result(as_json, lambda: found, lambda: _report_lines(found, current.message_lang))
    database = found["database"]
    if database["problems"]:
        problem = database["problems"][0]
        if database["rows"] is None:
            raise StoreError(problem)
        raise StoreCorrupt(
            _("{problem}; all other rows count; restore a backup with `attn restore FILE`", problem=problem)
        )


def _findings(current: Session) -> dict[str, Any]:
    from attncli.sandbox.zygote_client import describe

    database = health.database_health(current.home)
    banks, ahead = _banks_and_clock(current) if database.integrity != "unusable" else ({"problems": []}, [])
    kept = copies(current.home.backups)
    return {
        "versions": health.versions(),
        "paths": health.places(current.home),
        "device": health.device(),
        "config": _config_problems(current),
        "database": {
            "path": str(database.path),
            "rows": database.rows,
            "integrity": database.integrity,
            "unwritable": database.unwritable,
            "newest_copy": kept[0].name[:10] if kept else None,
            "problems": list(database.damages),
        },
        "banks": banks,
        "clock": ahead,
        "sandbox": describe(health.device() == CUDA),
    }


def _config_problems(current: Session) -> list[Localised]:
    try:
        current.settings  # noqa: B018 - reading is the check
    except (ConfigInvalid, EnvironmentFailure) as error:
        return [error.message]
    return []


def _banks_and_clock(current: Session) -> tuple[dict[str, Any], list[Localised]]:
    """Return the state of the banks, and one line for each row with a time later than the clock's."""
    try:
        with current.workspace() as workspace:
            if workspace.store.log.length():
                workspace.keep_daily_copy()
            return health.bank_health(workspace), ahead_in_words(workspace)
    except (StoreError, ConfigInvalid, EnvironmentFailure) as error:
        return {"problems": [error.message]}, []


_NAMES: dict[str, Localised] = {
    "platform": _("platform"),
    "home": _("home"),
    "config": _("config"),
    "database": _("history"),
    "history": _("history"),
    "cache": _("cache"),
    "solutions": _("solutions"),
    "quizbank": _("quizbank"),
    "impl": _("impl"),
    "copies": _("backups"),
    "banks": _("banks"),
    "clock": _("clock"),
    "device": _("device"),
    "sandbox": _("sandbox"),
    "gpu": _("GPU sandbox"),
    "language": _("language"),
}
"""The names of the lines of the report; a library, such as torch, has the same name in both languages."""


def _report_lines(found: dict[str, Any], lang: Lang) -> list[str]:
    lines = [_line(name, version, lang) for name, version in found["versions"].items()]
    lines += ["", *(_line(name, place, lang) for name, place in found["paths"].items()), ""]
    if not CATALOGUE.is_file():
        missing = _(
            "{file} is missing, so there is no Chinese; reinstall attncli, or in a source checkout run `make messages`",
            file=CATALOGUE,
        )
        lines.append(_line("language", missing[lang], lang))
    return [*lines, *_data_lines(found, lang), *_sandbox_lines(found["sandbox"], lang)]


def _data_lines(found: dict[str, Any], lang: Lang) -> Iterator[str]:
    """Yield the state of the history, its backups, the banks, the clock and the device."""
    database, banks = found["database"], found["banks"]
    yield _line("database", _integrity(database)[lang], lang)
    problems = [*filter(None, [database["unwritable"]]), *database["problems"], *found["config"], *banks["problems"]]
    yield from [_line("", problem[lang], lang) for problem in problems]
    newest = database["newest_copy"]
    yield _line("copies", (_("latest: {date}", date=newest) if newest else _("none yet"))[lang], lang)
    if "cards" in banks:
        yield _line("banks", _("{cards} cards, {topics} topics, {challenges} challenges", **banks)[lang], lang)
    for line in found["clock"]:
        yield _line("clock", line[lang], lang)
    yield _line("device", found["device"], lang)


def _note(note: str) -> Localised:
    """Return a note of the sandbox, such as `process: running as root`; a cause that the system gave stays English."""
    layer, colon, why = note.partition(": ")
    return _("{layer}: {why}", layer=layer, why=_(why)) if colon else _(note)


def _sandbox_lines(sandbox: dict[str, Any], lang: Lang) -> Iterator[str]:
    yield _line("sandbox", ", ".join(sandbox["layers"]) or _("none")[lang], lang)
    for name, why in sandbox["missing"].items():
        yield _line("", _("missing {name}: {why}", name=name, why=_note(why))[lang], lang)
    for note in sandbox["notes"]:
        yield _line("", _note(note)[lang], lang)
    if "gpu" in sandbox:
        yield _line("gpu", ", ".join(sandbox["gpu"]["layers"]) or _("none")[lang], lang)
        for note in sandbox["gpu"]["notes"]:
            yield _line("", _note(note)[lang], lang)


def _line(name: str, message: str, lang: Lang) -> str:
    return f"{left(_NAMES[name][lang] if name in _NAMES else name, NAME_CELLS)} {message}"


def _integrity(database: dict[str, Any]) -> Localised:
    states = {"ok": _("ok"), "damaged": _("damaged"), "unusable": _("unusable")}
    state = states[database["integrity"]]
    if database["rows"] is None:
        return state
    return _("{state}, {rows}", state=state, rows=ngettext("{count} row", "{count} rows", database["rows"]))


# `attn optimize`


@click.command(help=N_("Fit the FSRS parameters to your own reviews; kept if they predict recall better."))
@json_option
def optimize(as_json: bool) -> None:
    with session().workspace() as workspace:
        try:
            done = optimise(workspace, show_thousands)
        except TooFewReviews as error:
            if as_json:
                print_json({"kept": False, "reviews": error.reviews, "needed": error.needed})
            raise
        retention, lang = workspace.settings.desired_retention, workspace.lang
    print_result(as_json, done.document, lambda: _fit_lines(done, retention, lang))


def _fit_lines(done: Optimised, retention: float, lang: Lang) -> list[str]:
    before, after = done.before, done.after
    lines = [
        _(
            "Fitted to {reviews} reviews. Test on {held_back} held-out reviews:",
            reviews=done.reviews,
            held_back=done.held_back,
        )[lang],
        _(
            "  log loss {before:.4f} → {after:.4f} (gain {gain:.4f}, standard error {error:.4f}); "
            "RMSE in bins {rmse_before:.4f} → {rmse_after:.4f}",
            before=before.log_loss,
            after=after.log_loss,
            gain=done.gain,
            error=done.standard_error,
            rmse_before=before.rmse_bins,
            rmse_after=after.rmse_bins,
        )[lang],
    ]
    if not done.kept:
        return [*lines, _("No clear improvement: your current parameters stay.")[lang]]
    intervals = [
        quoted(f"{RATINGS[rating][lang]} {days:g} → {after.first_interval_days[rating]:g}")
        for rating, days in before.first_interval_days.items()
    ]
    listed = pgettext("clauses", ", ").join(intervals)
    lines.append(_("  first interval of a new card: {intervals} (days, without steps)", intervals=listed)[lang])
    if before.recall is not None and after.recall is not None:
        lines.append(
            _(
                "  recall when a card is due: {before:.0%} → {after:.0%} (target {target:.0%})",
                before=before.recall,
                after=after.recall,
                target=retention,
            )[lang]
        )
    lines.append(
        _(
            "  minutes a day for cards seen so far: {before:.1f} → {after:.1f} (mean of the next {days} days)",
            before=before.minutes_a_day,
            after=after.minutes_a_day,
            days=AHEAD_DAYS,
        )[lang]
    )
    return [
        *lines,
        _meaning(done)[lang],
        _("All schedules now use the new parameters; `attn undo` reverts them.")[lang],
    ]


def _meaning(done: Optimised) -> Localised:
    before, after = done.before.minutes_a_day, done.after.minutes_a_day
    if abs(after - before) <= SAME_WITHIN * max(before, after):
        return _("The daily workload stays about the same; intervals fit your memory better.")
    if after < before:
        return _("You remember longer than assumed: intervals grow and take less time.")
    return _("You forget sooner than assumed: intervals shrink to reach your retention.")


# `attn completion`, `attn mcp` and `attn serve`


@click.command(help=N_("Print the completion script for SHELL; source it from the shell's start-up file."))
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None, "click completes all three"
    echo(found(click.get_current_context().find_root().command, {}, "attn", COMPLETION_VARIABLE).source())


@click.command(help=N_("Run an MCP server on stdio, so that your assistant can quiz you, give hints and grade."))
def mcp() -> None:
    if find_spec("mcp") is None or find_spec("jsonschema") is None:
        raise EnvironmentFailure(_("`attn mcp` needs the MCP SDK; install it with: pip install 'attncli[mcp]'"))
    if sys.stdin is None:
        raise UsageError(_("standard input is closed; start `attn mcp` from your assistant"))
    from attncli.servers.mcp import serve

    current = session()
    if sys.stdin.isatty():
        echo(
            _("Waiting for an MCP client on stdin; press Ctrl-C to stop. Set-up: docs/browser-and-assistant.md")[
                current.lang
            ],
            err=True,
        )
    with current.workspace() as workspace:
        serve(workspace, Random())


@click.command(help=N_("Serve the app to a browser on this machine and print its URL; Ctrl-C stops it."))
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help=N_("Port to listen on; 0 picks a free one."),
)
def serve(port: int) -> None:
    from attncli.servers.browser import LOOPBACK
    from attncli.servers.browser import serve as serve_browser

    current = session()
    current.workspace().close()
    with socket.socket() as listening:
        if sys.platform != "win32":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((LOOPBACK, port))
        except OSError as error:
            message = _(
                "cannot listen on port {port} of {loopback} ({strerror})",
                port=port,
                loopback=LOOPBACK,
                strerror=reason_of(error),
            )
            raise UsageError(_("{message}; use --port 0 for a free one", message=message)) from error
        serve_browser(listening, _app_command(current), token_urlsafe(TOKEN_BYTES), current.lang, echo)


def _app_command(current: Session) -> list[str]:
    """Return the command line of the app for one visitor: the same program, home and options."""
    root = str(Path(attncli.__file__).parent.parent)
    words = [sys.executable, "-P", "-c", START.format(root=root), "--home", str(current.home.root.absolute())]
    words += ["--lang", current.lang_option] if current.lang_option else []
    return [*words, "--debug"] if current.debug else words
