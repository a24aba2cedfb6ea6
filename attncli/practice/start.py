"""Handing out a file to work on: a starter, a wrong solution to debug, or a reference with planted bugs."""

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
from attncli.domain.text import FULL_WIDTH, Lang, Localised, wrapped
from attncli.errors import EditorMissing, EnvironmentFailure, Unfit, UsageError
from attncli.memory.replay import standing
from attncli.paths import cannot_write, free_name, write_whole
from attncli.practice.record import record
from attncli.practice.workspace import Workspace
from attncli.words.command_texts import NO_EDITOR, NO_EDITORS, NO_SYMPTOM
from attncli.words.repair_texts import heading
from attncli.words.statement_texts import SharedFacts, Statement, statement_of

TRITON = ("import triton", "import triton.language as tl")


@dataclass(frozen=True, slots=True)
class Started:
    """A file to work on; `kept` is where the one that stood there went, `symptom` what a single bug shows.

    `bugs` is how many were planted.
    """

    path: Path
    kept: Path | None = None
    symptom: Localised | None = None
    bugs: int = 0


def solution_file(workspace: Workspace, challenge: str) -> Path:
    """Where the learner's solution of `challenge` lies by default."""
    return workspace.home.solutions / f"{challenge}.py"


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
    """Writes a starter for challenge `id`, and records it: with `bug` a wrong solution to debug, with `repair` the
    reference with so many bugs, those of the round numbered `seed` or of the next.

    `wrong` names the solution to debug; without it each of them is handed out in turn.
    An existing file is never overwritten: UsageError names it, unless `force` asks to keep it as a numbered copy.
    """
    challenge = workspace.library.challenge(id)
    path = (folder or workspace.home.solutions).absolute() / f"{challenge.id}.py"
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
        text = starter(reference, challenge.entry, _heading(challenge, workspace), needs)
    kept = _write_new(path, text, force)
    if kept is not None:
        details["kept"] = kept_text(kept, LONGEST_PATH)
    record(workspace, RowKind.START, challenge.id, details)
    return Started(path, kept, symptom, bugs)


def _heading(challenge: Challenge, workspace: Workspace) -> str:
    return f"{challenge.title[workspace.lang]}\n\n{statement(challenge).whole(workspace.lang)}"


def _next_bug(workspace: Workspace, challenge: Challenge) -> Path:
    """Each of the wrong solutions in turn."""
    wrong = sorted((Path(challenge.folder) / "wrong").glob("*.py"))
    if not wrong:
        raise Unfit(f"challenge {challenge.id} has no wrong solution to debug; leave out --bug", "no-bug")
    rows = workspace.store.log.of_subjects([challenge.id])
    handed_out = sum(row.bug != "" for row in rows)
    return wrong[handed_out % len(wrong)]


def _symptom(challenge: Challenge, wrong: str) -> Localised:
    told = challenge.mistakes.get(wrong)
    if told is not None and told.symptom.en:
        return told.symptom
    return NO_SYMPTOM


def _write_new(path: Path, text: str, force: bool) -> Path | None:
    kept = None
    try:
        _make_folder(path.parent)
        if force and path.exists():
            kept = free_name(path, "{stem}.{number}{suffix}")
            path.rename(kept)
        _write_all(path, text)
    except FileExistsError as error:
        raise UsageError(
            f"{path} already exists and is never overwritten; --force keeps it as a numbered copy, "
            "--dir names another folder"
        ) from error
    except OSError as error:
        if kept is not None and not path.exists():
            kept.rename(path)
        raise cannot_write(path, error, "name another folder with --dir") from error
    return kept


def _write_all(path: Path, text: str) -> None:
    """Writes a file that is not there yet; nothing of it stays where there is no room for all."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise
    except OSError:
        with suppress(OSError):
            path.unlink()
        raise


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(error.errno, "its folder is a file") from error


# Starter files: a reference's signatures without its bodies, and wrong solutions without what gives them away.

_Definition = ast.FunctionDef | ast.ClassDef


def starter(reference: Path, entry: Sequence[str], statement: str, needs: Sequence[str] = ()) -> str:
    """A file that defines the names of `entry` as `reference` does, bodies left to write; `statement` heads it.

    `needs` are import lines that a solution begins with and the reference does without.
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
    """A wrong solution without docstrings and comments, headed by its `symptom`."""
    tree = _parsed(_source(wrong), wrong)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return f"{docstring(symptom)}\n\n{ast.unparse(ast.fix_missing_locations(tree))}\n"


def _source(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EnvironmentFailure(
            f"cannot read {path} ({error}); the installation or the challenge is damaged"
        ) from error


def _parsed(source: str, path: Path) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError as error:
        raise EnvironmentFailure(
            f"{path} is no Python ({error}); the installation or the challenge is damaged"
        ) from error


def _hollow(node: _Definition, source: str) -> str:
    """The definition as it is written, with nothing but `raise NotImplementedError` in its functions."""
    indent = " " * node.col_offset
    if isinstance(node, ast.FunctionDef):
        return f"{_header(node, source)}\n{indent}    raise NotImplementedError"
    members = [child for child in node.body if isinstance(child, ast.FunctionDef) and _is_public(child.name)]
    body = "\n\n".join(_hollow(member, source) for member in members) or f"{indent}    pass"
    return f"{_header(node, source)}\n{body}"


def _header(node: _Definition, source: str) -> str:
    """The lines up to the body, decorators included."""
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    last = node.body[0].lineno
    if last == node.body[0].end_lineno == node.lineno:
        return ast.unparse(node).splitlines()[0]
    return "\n".join(source.splitlines()[first - 1 : last - 1])


def _is_public(name: str) -> bool:
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _needed_by(body: Sequence[ast.stmt], hollow: Iterable[ast.AST], defined: set[str]) -> list[ast.stmt]:
    """The top-level statements that bring in the names which the signatures use, and the names those use in turn."""
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


# Markdown as the docstring of a Python file: prose filled to a width, code, tables and formulas as they stand.

_WIDTH = 110
_FOLDED = re.compile(rf"(?<=[{FULL_WIDTH}])\n(?=[{FULL_WIDTH}])")
_VERBATIM = ("|", "#")
_FENCES = ("```", "$$")
_BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")


def docstring(text: str) -> str:
    """`text` as a docstring that nothing in it can end."""
    body = "\n".join(_filled(text.strip().replace('"""', "'''")))
    raw = "r" if "\\" in text else ""
    return f'{raw}"""{body}\n"""'


def without_docstring(source: str) -> str:
    """A file without the text at its head; as it is where it has none.

    Looks at the tokens up to the end of that text alone: parsing a whole file can take seconds.
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
    """The lines of a Markdown text, its paragraphs and list items broken anew."""
    paragraph: list[str] = []
    in_block = False
    for line in text.splitlines():
        fence = line.lstrip().startswith(_FENCES)
        if in_block or fence or not line.strip() or line.startswith(_VERBATIM) or _BULLET.match(line):
            yield from _broken(paragraph)
            paragraph = []
        in_block ^= fence and line.strip().count("$$") != 2
        if in_block or fence or not line.strip() or line.startswith(_VERBATIM):
            yield line
        else:
            paragraph.append(line.strip() if paragraph else line)
    yield from _broken(paragraph)


def _broken(paragraph: list[str]) -> list[str]:
    """One paragraph in lines of the width; those of a list item hang below its text."""
    if not paragraph:
        return []
    whole = _FOLDED.sub("", "\n".join(paragraph)).replace("\n", " ")
    bullet = _BULLET.match(whole)
    margin = len(whole) - len(whole.lstrip())
    lines = wrapped(whole, _WIDTH - margin, " " * (len(bullet[0]) - margin) if bullet else "")
    return [" " * margin + line for line in lines]


# What a challenge asks for, whole: its text with the sentences that it shares with others.


def statement(challenge: Challenge) -> Statement:
    """The three parts of what `challenge` asks for; `inputs.py` is read for its facts, never run."""
    return statement_of(challenge, shared_facts(Path(challenge.folder) / "inputs.py"))


def shared_facts(inputs: Path) -> SharedFacts:
    """The facts that shared sentences hang on. What is missing or damaged counts as not said: grading names it."""
    said = _literals(inputs)
    sixteen = said.get("SIXTEEN_BITS")
    return SharedFacts(
        sixteen_bits=cast(SixteenBits, sixteen) if sixteen in SIXTEEN_BITS else "float32",
        may_return_argument=bool(said.get("ALIAS_ALLOWED")),
        shows_state=bool(said.get("VIEWS_OF_STATE")),
    )


def _literals(path: Path) -> dict[str, Any]:
    """The names at the top of a module that are set to a literal."""
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
    """The value of a literal, None for anything else."""
    try:
        return ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


# What is known of the files that were handed out with bugs, wherever they lie by now.


@dataclass(frozen=True, slots=True)
class Planted:
    """The start that handed a file out, the names of the bugs in it, and how they were planted together.

    `repairs` is empty for the single bug of a whole wrong solution, and where the bank knows one of them no more.
    """

    start: LogRow
    bugs: tuple[str, ...]
    repairs: tuple[Repair, ...] = ()


def planted_in(workspace: Workspace, challenge: Challenge, file: Path) -> Planted | None:
    """What was planted in a file of the learner's; None for one that was not handed out with bugs.

    A file that was kept as a numbered copy is what it was under its old name.
    """
    start = _handed_out(workspace.store.log.of_subjects([challenge.id])).get(_place(file))
    if start is None or not start.is_planted:
        return None
    if start.bug:
        return Planted(start, (start.bug,))
    from attncli.bank.challenge_rules import load_repairs

    known = {repair.wrong: repair for repair in load_repairs(Path(challenge.folder))}
    repairs = tuple(known[name] for name in start.repairs if name in known)
    return Planted(start, start.repairs, repairs if len(repairs) == len(start.repairs) else ())


def _handed_out(rows: Iterable[LogRow]) -> dict[str, LogRow]:
    """The last start of each file."""
    found: dict[str, LogRow] = {}
    for row in standing(rows):
        if row.kind is not RowKind.START:
            continue
        file, kept = (row.payload.get(key) for key in ("file", "kept"))
        if isinstance(kept, str) and kept and isinstance(file, str) and _place(Path(file)) in found:
            found[_place(Path(kept))] = found[_place(Path(file))]
        if isinstance(file, str):
            found[_place(Path(file))] = row
    return found


def _place(file: Path) -> str:
    try:
        return str(file.resolve())
    except (OSError, ValueError, RuntimeError):
        return str(file.absolute())


# Repair rounds: which round of a challenge is next, by what was handed out, and the file that is handed out.

NAMED = 5


def offers_rounds(challenge: Challenge) -> bool:
    return (Path(challenge.folder) / REPAIRS).is_file()


def _that_offer(workspace: Workspace, track: str) -> list[str]:
    """A few challenges that offer rounds, those of a track first."""
    offering = [challenge for challenge in workspace.library.challenges() if offers_rounds(challenge)]
    offering.sort(key=lambda challenge: challenge.track != track)
    return [challenge.id for challenge in offering[:NAMED]] or ["none yet"]


def next_round(workspace: Workspace, challenge: Challenge, count: int, number: int | None) -> tuple[Repair, ...]:
    """The bugs of a round: of that `number`, or else of the one after those that were handed out.

    Raises UsageError where the challenge offers no rounds, or none of so many bugs.
    """
    from attncli.bank.challenge_rules import load_repairs

    repairs = load_repairs(Path(challenge.folder))
    if not repairs:
        said = f"challenge {challenge.id} has no repair round; --bug hands out one wrong solution to debug"
        raise UsageError(f"{said}, and these have rounds: {', '.join(_that_offer(workspace, challenge.track))}")
    most = min(MOST_BUGS, len(repairs))
    if not 1 <= count <= most:
        raise UsageError(
            f"a repair round of {challenge.id} has 1 to {most} bugs, not {count}; give --repair 1 to {most}"
        )
    if number is None:
        number = sum(len(row.repairs) == count for row in workspace.store.log.of_subjects([challenge.id]))
    return drawn(challenge.id, repairs, count, number)


def round_text(challenge: Challenge, repairs: Iterable[Repair], file: Path, lang: Lang) -> str:
    """The reference with the bugs in it: what was said about its decisions gives way to what is to be done."""
    repairs = tuple(repairs)
    try:
        reference = (Path(challenge.folder) / "reference.py").read_text(encoding="utf-8")
        code = without_docstring(planted(reference, repairs))
    except (OSError, ValueError, SyntaxError) as error:
        said = f"the reference of {challenge.id} takes no bugs ({error})"
        raise EnvironmentFailure(f"{said}; `attn verify {challenge.id}` says more") from error
    task = heading(challenge, len(repairs), file.name)[lang]
    return f"{docstring(task + chr(10) * 2 + statement(challenge).first[lang])}\n\n{code}"


# A file that is open for editing here, while something else may write it too: nothing of either is lost.

LARGEST_BYTES = 256 * 1024


class OpenFile:
    """`text` is what was read or written last. Raises UsageError where the file cannot be read as text."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = _read(path)

    def save(self, text: str) -> Path | None:
        """Puts `text` into the file. Where something else wrote it meanwhile, that is kept as a copy; the copy.

        Raises UsageError where it cannot be written; then the file is as it was.
        """
        kept = None
        try:
            if self.path.exists() and (there := _read(self.path)) not in (self.text, text):
                kept = free_name(self.path, "{stem}.other-{number}{suffix}")
                write_whole(kept, [there])
            write_whole(self.path, [text])
        except OSError as error:
            raise cannot_write(self.path, error, "what you typed is still here") from error
        self.text = text
        return kept


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_BYTES:
            said = f"{path} is larger than {LARGEST_BYTES // 1024} KiB; open it in another editor"
            raise Unfit(said, "file-large", file=str(path))
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        said = f"{path} is no text in UTF-8; open it in another editor"
        raise Unfit(said, "file-no-text", file=str(path)) from error
    except OSError as error:
        said = f"cannot read {path} ({error.strerror}); make it readable"
        raise Unfit(said, "file-unread", file=str(path)) from error


# Opening a file in the learner's editor.

_USUAL = ("nano", "vim", "vi", "notepad")


def edit(file: Path, setting: str, environ: Mapping[str, str]) -> None:
    """Opens `file` and waits until the editor is closed. Raises EditorMissing."""
    command = editor_command(setting, environ)
    if not command:
        raise EditorMissing("")
    try:
        subprocess.run([*command, str(file)], check=False)
    except OSError as error:
        raise EditorMissing(command[0], error.strerror or "") from error


def told(error: EditorMissing, lang: Lang) -> str:
    """Which editor could not be started, and what to do."""
    text = NO_EDITOR if error.editor else NO_EDITORS
    return text[lang].format(editor=error.editor, why=error.why)


def editor_command(
    setting: str, environ: Mapping[str, str], which: Callable[[str], str | None] = shutil.which
) -> list[str]:
    """The words of the command: the setting, `$VISUAL`, `$EDITOR`, then what is usually there; empty if nothing is."""
    for choice in (setting, environ.get("VISUAL", ""), environ.get("EDITOR", "")):
        if words := _words(choice):
            return words
    return next(([name] for name in _USUAL if which(name)), [])


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return [command]
