"""Write the file that the learner works on: a starter, a wrong solution to debug, or a reference with planted bugs.

A file with bugs has a name of its own, so the learner's solution stays as it is. An existing file is never overwritten;
on request it is kept as a numbered copy. Starters are built from the source text
of the reference, and a statement's facts are read from `inputs.py`; neither is run. The log records the bugs in each
file. The end of this module opens a learner's file in the app or in an external editor.
"""

from __future__ import annotations

import ast
import builtins
import re
import shlex
import shutil
import subprocess
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, cast

from attncli.domain.challenge import MOST_BUGS, REPAIRS, SIXTEEN_BITS, Challenge, Repair, SixteenBits, drawn, planted
from attncli.domain.log_row import LONGEST_PATH, LogRow, RowKind, kept_text
from attncli.domain.statement import SharedFacts, Statement, statement_of
from attncli.domain.text import FULL_WIDTH, wrapped
from attncli.errors import EditorMissing, EnvironmentFailure, InvalidInput, UsageError, unreadable
from attncli.i18n import N_, Lang, Localised, _, ngettext, quoted
from attncli.memory.replay import standing
from attncli.paths import cannot_write, free_name, write_whole
from attncli.practice.record import record
from attncli.practice.workspace import Workspace

TRITON = ("import triton", "import triton.language as tl")
_WIDTH = 110
_FOLDED = re.compile(rf"(?<=[{FULL_WIDTH}])\n(?=[{FULL_WIDTH}])")
_VERBATIM = ("|", "#")
_FENCES = ("```", "$$")
_BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
MOST_SUGGESTED = 5
LARGEST_BYTES = 256 * 1024
"""Largest file that the app's own editor opens."""
_IS_PUBLIC = re.compile(r"[^_]|__.*__\Z")
_USUAL_EDITORS = ("nano", "vim", "vi", "notepad")
_Definition = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Started:
    """A file to work on; `kept` is the copy of the file that was there, `symptom` the visible effect of a single bug.

    `bugs` is how many were planted.
    """

    path: Path
    kept: Path | None = None
    symptom: Localised | None = None
    bugs: int = 0


def file_name(challenge: str, has_bugs: bool = False) -> str:
    """Return the name of a solution, or of a file that was handed out with bugs."""
    return f"{challenge}.repair.py" if has_bugs else f"{challenge}.py"


def solution_file(workspace: Workspace, challenge: str) -> Path:
    """Return the default path of the learner's solution."""
    return workspace.home.solutions / file_name(challenge)


def start_challenge(
    workspace: Workspace,
    id: str,
    folder: Path | None = None,
    *,
    bug: bool = False,
    wrong: str = "",
    repair: int | None = None,
    seed: int | None = None,
    force: bool = False,
) -> Started:
    """Write the file to work on for challenge `id`, and record it.

    With `bug` it is a wrong solution to debug: the one named `wrong`, or each in turn. With `repair` it is the
    reference with `repair` bugs: those of round `seed`, or of the next round. An existing file is never overwritten:
    UsageError names it, unless `force` asks to keep it as a numbered copy.
    """
    challenge = workspace.library.challenge(id)
    workspace.store.require_writable()
    name = file_name(challenge.id, has_bugs=bug or repair is not None)
    path = (folder or workspace.home.solutions).absolute() / name
    details: dict[str, Any] = {"file": kept_text(path, LONGEST_PATH)}
    symptom, bugs = None, int(bug)
    if repair is not None:
        repairs = next_round(workspace, challenge, repair, seed)
        details["repairs"], bugs = [chosen.wrong for chosen in repairs], len(repairs)
        text = round_text(challenge, repairs, path, workspace.lang)
    elif bug:
        planted = Path(challenge.folder) / "wrong" / f"{wrong}.py" if wrong else _next_bug(workspace, challenge)
        details["bug"] = planted.stem
        symptom = _symptom(challenge, planted.stem)
        text = disguised(planted, symptom[workspace.lang])
    else:
        reference, needs = Path(challenge.folder) / "reference.py", TRITON if challenge.kernel else ()
        heading = f"{challenge.title[workspace.lang]}\n\n{statement(challenge).whole(workspace.lang)}"
        text = starter(reference, challenge.entry, heading, needs)
    kept = write_new(path, text, force)
    if kept is not None:
        details["kept"] = kept_text(kept, LONGEST_PATH)
    record(workspace, RowKind.START, challenge.id, details)
    return Started(path, kept, symptom, bugs)


def _symptom(challenge: Challenge, bug: str) -> Localised:
    mistake = challenge.mistakes.get(bug)
    if mistake is not None and mistake.symptom.en:
        return mistake.symptom
    return _("This solution is rejected. Find out why and fix it.")


def _next_bug(workspace: Workspace, challenge: Challenge) -> Path:
    """Return the wrong solution whose turn it is."""
    wrong = sorted((Path(challenge.folder) / "wrong").glob("*.py"))
    if not wrong:
        raise InvalidInput(
            _("challenge {id} has no wrong solution to debug; leave out --bug", id=challenge.id), "no-bug"
        )
    rows = workspace.store.log.of_subjects([challenge.id])
    handed_out = sum(row.bug != "" for row in rows)
    return wrong[handed_out % len(wrong)]


def write_new(path: Path, text: str, force: bool) -> Path | None:
    """Write a new file; with `force` keep an existing one as a numbered copy, and return that. Raises UsageError."""
    kept = None
    try:
        _make_folder(path.parent)
        if path.exists():
            if not force:
                message = _(
                    "{path} already exists; use --force to keep it as a numbered copy, or --dir for another folder",
                    path=path,
                )
                raise UsageError(message)
            kept = free_name(path, "{stem}.{number}{suffix}")
            path.rename(kept)
        write_whole(path, [text])
    except OSError as error:
        if kept is not None and not path.exists():
            kept.rename(path)
        raise cannot_write(path, error, _("choose another folder with --dir")) from error
    return kept


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(error.errno, N_("its folder is a file")) from error


# Starters and wrong solutions


def starter(reference: Path, entry: Sequence[str], statement: str, needs: Sequence[str] = ()) -> str:
    """Return source that defines the names of `entry` as `reference` does, without bodies, headed by `statement`.

    `needs` are import lines that a solution needs and the reference does not.
    """
    source = _source(reference)
    tree = _parsed(source, reference)
    wanted = [node for node in tree.body if isinstance(node, _Definition) and node.name in entry]
    hollow = [_hollow(node, source) for node in wanted]
    needed = _needed_by(tree.body, map(ast.parse, hollow), {node.name for node in wanted})
    imports = [ast.unparse(node) for node in needed if _is_import(node)]
    if "import torch" not in imports:
        imports.append("import torch")
    imports.sort(key=lambda line: ("torch" in line, line))
    imports += needs
    constants = [ast.unparse(node) for node in needed if not _is_import(node)]
    head = f"{docstring(statement)}\n\n" + "\n".join(imports)
    return "\n\n\n".join([head, *constants, *hollow]) + "\n"


def disguised(wrong: Path, symptom: str) -> str:
    """Return a wrong solution without docstrings and comments, headed by its `symptom`."""
    tree = _parsed(_source(wrong), wrong)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return f"{docstring(symptom)}\n\n{ast.unparse(ast.fix_missing_locations(tree))}\n"


def _source(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EnvironmentFailure(unreadable(path, error, _("the installation or the challenge is damaged"))) from error


def _parsed(source: str, path: Path) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError as error:
        raise EnvironmentFailure(
            _(
                "{path} is not valid Python ({error}); the installation or the challenge is damaged",
                path=path,
                error=error,
            )
        ) from error


def _hollow(node: _Definition, source: str) -> str:
    """Return the definition as written, with only `raise NotImplementedError` in its functions."""
    indent = " " * node.col_offset
    if isinstance(node, ast.FunctionDef):
        return f"{_header(node, source)}\n{indent}    raise NotImplementedError"
    members = [child for child in node.body if isinstance(child, ast.FunctionDef) and _IS_PUBLIC.match(child.name)]
    body = "\n\n".join(_hollow(member, source) for member in members) or f"{indent}    pass"
    return f"{_header(node, source)}\n{body}"


def _header(node: _Definition, source: str) -> str:
    """Return the lines up to the body, with decorators."""
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    last = node.body[0].lineno
    if last == node.body[0].end_lineno == node.lineno:
        return ast.unparse(node).splitlines()[0]
    return "\n".join(source.splitlines()[first - 1 : last - 1])


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _needed_by(body: Sequence[ast.stmt], hollow: Iterable[ast.AST], defined: set[str]) -> list[ast.stmt]:
    """Return the top-level statements that define the names used in signatures, and their own dependencies."""
    known = defined | set(dir(builtins))
    missing = {name for node in hollow for name in _names(node)} - known
    needed: list[ast.stmt] = []
    while found := next((node for node in body if _binds(node) & missing), None):
        needed.append(found)
        known |= _binds(found)
        if not _is_import(found):
            missing |= _names(found)
        missing -= known
    return sorted(needed, key=body.index)


def _names(node: ast.AST) -> set[str]:
    return {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}


def _binds(node: ast.stmt) -> set[str]:
    match node:
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {(alias.asname or alias.name).split(".")[0] for alias in names}
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
    return set()


# Markdown as a docstring: prose is filled to a width; code, tables and formulas are kept


def docstring(text: str) -> str:
    """Format `text` as a docstring, escaped so that nothing in it ends the string."""
    body = "\n".join(_filled(text.strip().replace('"""', "'''")))
    raw = "r" if "\\" in text else ""
    return f'{raw}"""{body}\n"""'


def without_docstring(source: str) -> str:
    """Return a file without the docstring at its head; unchanged if there is none.

    Only the tokens up to the end of the docstring are read: parsing a whole file can take seconds.
    """
    last = 0
    with suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(StringIO(source, newline="").readline):
            if token.type == tokenize.STRING and not set("bBfF") & set(
                token.string[: token.string.index(token.string[-1])]
            ):
                last = token.end[0]
            elif token.type == tokenize.NEWLINE and last:
                return "".join(list(StringIO(source, newline=""))[last:]).lstrip("\r\n")  # split as Python splits
            elif token.type not in (tokenize.COMMENT, tokenize.NL):
                break
    return source


def _filled(text: str) -> Iterator[str]:
    """Yield the lines of a Markdown text, with paragraphs and list items refilled."""
    paragraph: list[str] = []
    in_block = False
    for line in text.splitlines():
        fence = line.lstrip().startswith(_FENCES)
        if in_block or fence or not line.strip() or line.startswith(_VERBATIM) or _BULLET.match(line):
            yield from _wrapped(paragraph)
            paragraph = []
        in_block ^= fence and line.strip().count("$$") != 2
        if in_block or fence or not line.strip() or line.startswith(_VERBATIM):
            yield line
        else:
            paragraph.append(line.strip() if paragraph else line)
    yield from _wrapped(paragraph)


def _wrapped(paragraph: list[str]) -> list[str]:
    """Wrap one paragraph to the width; further lines of a list item are indented below its text."""
    if not paragraph:
        return []
    whole = _FOLDED.sub("", "\n".join(paragraph)).replace("\n", " ")
    bullet = _BULLET.match(whole)
    margin = len(whole) - len(whole.lstrip())
    lines = wrapped(whole, _WIDTH - margin, " " * (len(bullet[0]) - margin) if bullet else "")
    return [" " * margin + line for line in lines]


# Statements


def statement(challenge: Challenge) -> Statement:
    """Return the three parts of the statement of `challenge`; `inputs.py` is read for its facts, never run."""
    return statement_of(challenge, shared_facts(Path(challenge.folder) / "inputs.py"))


def shared_facts(inputs: Path) -> SharedFacts:
    """Read the facts that shared sentences depend on. A missing or damaged fact counts as absent: grading
    reports it.
    """
    facts = _literals(inputs)
    sixteen = facts.get("SIXTEEN_BITS")
    return SharedFacts(
        sixteen_bits=cast(SixteenBits, sixteen) if sixteen in SIXTEEN_BITS else "float32",
        may_return_argument=bool(facts.get("ALIAS_ALLOWED")),
        shows_state=bool(facts.get("VIEWS_OF_STATE")),
    )


def _literals(path: Path) -> dict[str, Any]:
    """Return the upper-case names at the top of a module that are set to a literal."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[str, Any] = {}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name.isupper():
                if (literal := _literal(value)) is not None:
                    found[name] = literal
    return found


def _literal(value: ast.expr) -> Any:
    """Return the value of a literal, None for anything else."""
    try:
        return ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


# Files that were handed out with bugs


@dataclass(frozen=True, slots=True)
class Planted:
    """The start that handed out a file, the names of its bugs, and how they were planted together.

    `repairs` is empty for a whole wrong solution, and if the bank no longer knows one of them.
    """

    start: LogRow
    bugs: tuple[str, ...]
    repairs: tuple[Repair, ...] = ()


def planted_in(workspace: Workspace, challenge: Challenge, file: Path) -> Planted | None:
    """Return the bugs planted in a file of the learner's; None if it was not handed out with bugs.

    A file that was kept as a numbered copy counts as under its old name.
    """
    start = _handed_out(workspace.store.log.of_subjects([challenge.id])).get(_path_key(file))
    if start is None or not start.is_planted:
        return None
    if start.bug:
        return Planted(start, (start.bug,))
    from attncli.bank.challenge_rules import load_repairs

    known = {repair.wrong: repair for repair in load_repairs(Path(challenge.folder))}
    repairs = tuple(known[name] for name in start.repairs if name in known)
    return Planted(start, start.repairs, repairs if len(repairs) == len(start.repairs) else ())


def open_round(workspace: Workspace, challenge: Challenge) -> Started | None:
    """Return the round that the learner has not finished, in the folder of solutions; None if there is none."""
    file = workspace.home.solutions / file_name(challenge.id, has_bugs=True)
    planted = planted_in(workspace, challenge, file) if file.exists() else None
    rows = standing(workspace.store.log.of_subjects([challenge.id]))
    if planted is None or planted.start.id in {row.fixes for row in rows}:
        return None
    symptom = _symptom(challenge, planted.start.bug) if planted.start.bug else None
    return Started(file, symptom=symptom, bugs=len(planted.bugs))


def _handed_out(rows: Iterable[LogRow]) -> dict[str, LogRow]:
    """Return the last start of each file."""
    found: dict[str, LogRow] = {}
    for row in standing(rows):
        if row.kind is not RowKind.START:
            continue
        file, kept = (row.payload.get(key) for key in ("file", "kept"))
        if isinstance(kept, str) and kept and isinstance(file, str) and _path_key(Path(file)) in found:
            found[_path_key(Path(kept))] = found[_path_key(Path(file))]
        if isinstance(file, str):
            found[_path_key(Path(file))] = row
    return found


def _path_key(file: Path) -> str:
    try:
        return str(file.resolve())
    except (OSError, ValueError, RuntimeError):
        return str(file.absolute())


# Repair rounds


def offers_rounds(challenge: Challenge) -> bool:
    return (Path(challenge.folder) / REPAIRS).is_file()


def next_round(workspace: Workspace, challenge: Challenge, count: int, number: int | None) -> tuple[Repair, ...]:
    """Return the bugs of round `number`, or of the round after those that were handed out.

    Raises UsageError if the challenge has no rounds, or none with `count` bugs.
    """
    from attncli.bank.challenge_rules import load_repairs

    repairs = load_repairs(Path(challenge.folder))
    if not repairs:
        offering = [other for other in workspace.library.challenges() if offers_rounds(other)]
        offering.sort(key=lambda other: other.track != challenge.track)
        raise UsageError(
            _(
                "challenge {id} has no repair round; use --bug, or --repair with one of {ids}",
                id=challenge.id,
                ids=", ".join(other.id for other in offering[:MOST_SUGGESTED]),
            )
        )
    most = min(MOST_BUGS, len(repairs))
    if not 1 <= count <= most:
        raise UsageError(
            _(
                "a repair round of {id} has 1 to {most} bugs, not {count}; use --repair 1 to {most}",
                id=challenge.id,
                most=most,
                count=count,
            )
        )
    if number is None:
        number = sum(len(row.repairs) == count for row in workspace.store.log.of_subjects([challenge.id]))
    return drawn(challenge.id, repairs, count, number)


def round_text(challenge: Challenge, repairs: Iterable[Repair], file: Path, lang: Lang) -> str:
    """Return the reference with the bugs in it; the task replaces its docstring, which explains its decisions."""
    repairs = tuple(repairs)
    try:
        reference = (Path(challenge.folder) / "reference.py").read_text(encoding="utf-8")
        code = without_docstring(planted(reference, repairs))
    except (OSError, ValueError, SyntaxError) as error:
        message = _("cannot plant bugs in the reference of {id} ({error})", id=challenge.id, error=error)
        raise EnvironmentFailure(
            _("{message}; for details run `attn verify {id}`", message=message, id=challenge.id)
        ) from error
    heading = quoted("\n\n").join([_task(challenge, len(repairs), file.name), statement(challenge).first])
    return f"{docstring(heading[lang])}\n\n{code}"


def _task(challenge: Challenge, count: int, file: str) -> Localised:
    """Return the task at the head of a file with planted bugs."""
    found = ngettext(
        "{title}: this file has {count} bug. Find and fix it.",
        "{title}: this file has {count} bugs. Find and fix them.",
        count,
        title=challenge.title,
    )
    how = _(
        "`attn grade {id} {file}` reports how many are fixed, and the symptoms of the rest.", id=challenge.id, file=file
    )
    return quoted("\n\n").join([found, how])


# Editing


class OpenFile:
    """A file that is open in the app while another program may write it too; neither's text is lost.

    `text` is the text that was last read or written. Raises UsageError if the file cannot be read as text.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = _read_text(path)

    def save(self, text: str) -> Path | None:
        """Write `text` to the file. If another program has written it meanwhile, keep that text as a copy and return
        its path.

        Raises UsageError if it cannot be written; then the file is unchanged.
        """
        kept = None
        try:
            if self.path.exists() and (found := _read_text(self.path)) not in (self.text, text):
                kept = free_name(self.path, "{stem}.other-{number}{suffix}")
                write_whole(kept, [found])
            write_whole(self.path, [text])
        except OSError as error:
            raise cannot_write(self.path, error, _("what you typed is still here")) from error
        self.text = text
        return kept


def _read_text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_BYTES:
            size = LARGEST_BYTES // 1024
            raise UsageError(_("{path} is larger than {size} KiB; open it in another editor", path=path, size=size))
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(_("{path} is not UTF-8 text; open it in another editor", path=path)) from error
    except OSError as error:
        raise UsageError(unreadable(path, error, _("make it readable"))) from error


def edit(file: Path, setting: str, environ: Mapping[str, str]) -> None:
    """Open `file` in an external editor and wait until it is closed. Raises EditorMissing."""
    command = editor_command(setting, environ)
    if not command:
        raise EditorMissing(_("No editor found. Set one: `attn config editor vim`"))
    try:
        subprocess.run([*command, str(file)], check=False)
    except OSError as error:
        problem = _("Cannot start the editor “{editor}” ({why}). Set one: `attn config editor vim`")
        raise EditorMissing(problem.format(editor=command[0], why=error.strerror or "")) from error


def editor_command(
    setting: str, environ: Mapping[str, str], which: Callable[[str], str | None] = shutil.which
) -> list[str]:
    """Return the command as words: the setting, `$VISUAL`, `$EDITOR`, else a usual editor; empty if there is none."""
    for choice in (setting, environ.get("VISUAL", ""), environ.get("EDITOR", "")):
        if words := _words(choice):
            return words
    return next(([name] for name in _USUAL_EDITORS if which(name)), [])


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return [command]
