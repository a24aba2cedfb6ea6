"""Read a learner's file without running it: check that it parses, its entry points, and the names that it uses.

A worker does this before anything of the file has run in it, so that a file that takes endless time or all memory to
parse ends only that worker. Names are resolved with the loaded modules of torch. This stops mistakes and shortcuts with
a line number; it is no security layer.
"""

from __future__ import annotations

import ast
import codecs
import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from importlib.util import find_spec
from types import ModuleType
from typing import Any

# The key of one of the judge's messages, and its parts.
Problem = tuple[str, dict[str, Any]]

# The packages whose names are checked.
_JUDGED = ("torch", "triton")
REFUSED_NAMES = frozenset("eval exec compile open input breakpoint globals vars __import__ __builtins__".split())
# Modules that are attributes of others, such as `dataclasses.sys`: they must not be reachable that way either.
REFUSED_MODULES = frozenset(
    "sys _sys os _os gc builtins _builtins inspect ctypes importlib threading _thread subprocess socket".split()
)
REFUSED_ATTRIBUTES = REFUSED_MODULES | frozenset(
    "__globals__ __code__ __closure__ __subclasses__ __bases__ __mro__ __builtins__ __loader__ __spec__ gi_frame "
    "f_back f_globals f_locals f_builtins tb_frame __dict__ __getattribute__ _C _VF DisableTorchFunction "
    "DisableTorchFunctionSubclass".split()
)
# The further names that tests may not use: they could show the solution, or change what it calls.
REFUSED_IN_TESTS = frozenset("getattr setattr delattr dir id hash memoryview".split())
_SHOWING = re.compile(r"__(?!init__\Z)|(?:f|co|tb|gi|cr)_[a-z]|(?:traceback|tb|frame|cache_info|cache_parameters)\Z")
# The most parts of a dotted torch name that are checked as one; all of torch's own names are shorter.
_LONGEST_PATH = 8
_KINDS = re.compile(r"^(?:lazy|native|fused|sync|cudnn|miopen)+(?=.)|(?<=.)(?:[123]d|loss|forward|backward)+$")

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# Nodes with a separate scope, whose names the function around them does not have.
_APART = (ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Rules for a file, as they are sent to a worker.

    `imports` are modules it may import, `modules` those of them that belong to torch, `forbidden` names and patterns of
    dotted names, `kernel_names` the permitted names of Triton; `entry` has the signatures that calls will use. With
    `tests` the file has tests, from which the solution stays hidden.
    """

    imports: Sequence[str]
    modules: Sequence[str] = ("torch",)
    forbidden: Sequence[str] = ()
    kernel_names: Sequence[str] = ()
    entry: Mapping[str, Any] = field(default_factory=dict)
    tests: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """A forbidden name in the source, with its line and the message."""

    line: int
    name: str
    problem: Problem


def read_source(source: bytes, rules: Rules) -> dict[str, Problem | None]:
    """Return the problems of a file: of its `syntax`, of its `entry` points, and the first `forbidden` name.

    Linear in time and memory, apart from Python's own parser. Never raises, whatever the bytes.
    """
    read: dict[str, Problem | None] = {"syntax": None, "entry": None, "forbidden": None}
    try:
        tree = parse(source)
        read["entry"] = entry_problem(signatures(tree, rules.entry), rules.entry)
        found = next(Scan(tree, rules).find(), None)
        read["forbidden"] = None if found is None else found.problem
    except SyntaxError as error:
        read["syntax"] = "at-line", {"line": error.lineno or 1, "error": str(error.msg)}
    except RecursionError:
        read["syntax"] = "nests-too-deeply", {}
    except (ValueError, MemoryError) as error:
        read["syntax"] = "not-parsed", {"error": f"{type(error).__name__}: {error}"}
    return read


def parse(source: bytes) -> ast.Module:
    """Return the syntax tree of a file in UTF-8. Raises SyntaxError, RecursionError, ValueError or MemoryError."""
    try:
        source.decode()
    except UnicodeDecodeError as error:
        raise SyntaxError("the file is no text in UTF-8; save it as UTF-8") from error
    encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    if codecs.lookup(encoding).name not in ("utf-8", "utf-8-sig"):
        raise SyntaxError(f"the file says that it is in {encoding}; save it as UTF-8")
    return ast.parse(source)


def normal(name: str) -> str:
    """Normalise a name: `log_softmax`, `LogSoftmax`, `log_softmax_` become equal, and so do kinds of a norm or loss."""
    return _KINDS.sub("", name.replace("_", "").lower())


class Forbidden:
    """A list of forbidden names: last names and prefixes (`name_*`) match in every spelling, dotted names in full."""

    def __init__(self, names: Sequence[str]) -> None:
        self._dotted = [name for name in names if "." in name]
        self._last = {normal(name) for name in names if "." not in name}
        self._begins = tuple(normal(name[:-1]) for name in names if "." not in name and name.endswith("*"))

    def names(self, dotted: str) -> bool:
        """Return True if a dotted name is on the list."""
        last = normal(dotted.rsplit(".", 1)[-1])
        if last in self._last or last.startswith(self._begins):
            return True
        return any(fnmatchcase(dotted, pattern) or dotted == pattern for pattern in self._dotted)


@dataclass(slots=True)
class _Scope:
    """The names in a function that builtins have too; unless it `binds`, they belong to the scope outside."""

    binds: bool
    bound: set[str] = field(default_factory=set)
    outside: set[str] = field(default_factory=set)
    met: dict[str, ast.Name] = field(default_factory=dict)


class Scan:
    """One walk over a file's syntax tree that finds forbidden names."""

    def __init__(self, tree: ast.Module, rules: Rules) -> None:
        self._tree = tree
        self._rules = rules
        self._forbidden = Forbidden(rules.forbidden)
        self._aliases: dict[str, list[str]] = {}
        self._own: set[str] = set()
        self._own_names: set[str] = {"self", "cls"}
        self._own_methods: set[str] = set()
        self._scopes = [_Scope(binds=False)]
        self._refused_names = REFUSED_NAMES | (REFUSED_IN_TESTS if rules.tests else frozenset())
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                self._own.add(node.name)
                self._own_names.add(node.name)
            if isinstance(node, ast.ClassDef):
                self._own_methods.update(f.name for f in node.body if isinstance(f, ast.FunctionDef))
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._name_imports(node)

    @cached_property
    def _roots(self) -> frozenset[str]:
        return frozenset(module.partition(".")[0] for module in self._rules.imports)

    def find(self) -> Iterator[Named]:
        """Yield every forbidden name, those of builtins last."""
        waiting: list[Any] = [self._tree]
        while waiting:
            node = waiting.pop()
            if isinstance(node, _Scope):
                self._scopes.append(node)
            elif node is None:  # the end of the scope
                scope = self._scopes.pop()
                for id, name in scope.met.items():
                    if id not in scope.bound or id in scope.outside:
                        self._scopes[-1].met.setdefault(id, name)
            else:
                yield from self._look_at(node)
                waiting.extend(self._parts(node))
        for name in self._scopes[0].met.values():
            yield self._refused(name.lineno, name.id)

    def _look_at(self, node: ast.AST) -> Iterator[Named]:
        if isinstance(node, ast.Name):
            if node.id in self._refused_names and node.id not in self._own:
                scope = self._scopes[-1]
                scope.met.setdefault(node.id, node)
                if scope.binds and isinstance(node.ctx, ast.Store):
                    scope.bound.add(node.id)
        elif isinstance(node, ast.Attribute):
            # All of `base.a.b.c`; the first forbidden part is reported.
            base, names = _base(node)
            path = self._aliased(base) if isinstance(base, ast.Name) else None
            yield from self._attribute_names(node.lineno, path, names, isinstance(node.ctx, ast.Load))
        elif isinstance(node, ast.Call):
            yield from self._call(node)
        elif isinstance(node, ast.Constant) and self._rules.tests and "__" in str(node.value):
            yield self._refused(node.lineno, "__")  # a format string could read attributes
        elif isinstance(node, ast.Assign):
            self._name_module(node)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield from self._module(node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom):
            yield from self._import_from(node)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            self._scopes[-1].outside.update(self._refused_names.intersection(node.names))

    def _parts(self, node: ast.AST) -> Iterable[Any]:
        """Return the nodes to visit next, the last one first."""
        if isinstance(node, ast.Attribute):
            return [_base(node)[0]]
        children = list(ast.iter_child_nodes(node))
        if isinstance(node, _FUNCTIONS):
            body = [node.body] if isinstance(node, ast.Lambda) else node.body
            inside = set(map(id, body))
            outside = [child for child in children if id(child) not in inside]  # defaults, decorators
            given = node.args
            every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
            bound = {a.arg for a in every if a is not None and a.arg in self._refused_names}
            return [None, *reversed(body), _Scope(True, bound), *reversed(outside)]
        if isinstance(node, _APART):
            return [None, *reversed(children), _Scope(False)]
        return reversed(children)

    def _name_imports(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                self._aliases[alias.asname or alias.name] = [*_parts_of(node.module or "."), alias.name]
            else:
                parts = _parts_of(alias.name)
                self._aliases[alias.asname or parts[0]] = parts if alias.asname else parts[:1]

    def _name_module(self, node: ast.Assign) -> None:
        """Record an alias: `m = torch.nn` makes `m` another name of that module."""
        path = self._path(node.value)
        if path and path[0] in _JUDGED and len(path) < _LONGEST_PATH:
            self._aliases.update((to.id, path) for to in node.targets if isinstance(to, ast.Name))

    def _import_from(self, node: ast.ImportFrom) -> Iterator[Named]:
        module = "." * node.level + (node.module or "")
        faults = list(self._module(node.lineno, module))
        yield from faults
        for alias in node.names if not faults else ():
            if alias.name in REFUSED_ATTRIBUTES:
                yield self._refused(node.lineno, f"{module}.{alias.name}", alias.name)
            else:
                yield from self._judge(node.lineno, [*_parts_of(module), alias.name])

    def _module(self, line: int, module: str) -> Iterator[Named]:
        root, rules = module.partition(".")[0], self._rules
        if root not in self._roots or (root == "triton" and module not in rules.imports):
            allowed = ", ".join(sorted({*rules.imports} - {"__future__"}))
            yield Named(line, module, ("import-not-allowed", {"line": line, "module": module, "allowed": allowed}))
        elif root == "torch":
            yield from self._judge(line, _parts_of(module))

    def _call(self, node: ast.Call) -> Iterator[Named]:
        """Check `getattr(module, "name")` as `module.name`; a computed name is refused for a module."""
        if not isinstance(node.func, ast.Name) or node.func.id not in ("getattr", "hasattr") or len(node.args) < 2:
            return
        path, name = self._path(node.args[0]), node.args[1]
        written = name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else None
        if written is not None:
            yield from self._attribute_names(node.lineno, path, [written], loads=True)
        elif path is not None and path[0] in _JUDGED and self._ends_in_module(path):
            yield self._refused(node.lineno, node.func.id)

    def _attribute_names(self, line: int, path: list[str] | None, names: list[str], loads: bool) -> Iterator[Named]:
        for name in names:
            own = name == "__dict__" and path in (["self"], ["cls"])
            if name in REFUSED_ATTRIBUTES and not own:
                yield self._refused(line, name)
                return
        whole = [*(path or [""]), *names]
        if self._rules.tests and (any(map(_SHOWING.match, names)) or (not loads and whole[0] in self._roots)):
            yield self._refused(line, names[-1])
            return
        if whole[0] in _JUDGED or "torch" in whole:
            yield from self._judge(line, whole)
        elif path is not None and path[0] in self._roots:
            yield from self._inside(line, path + names)
        elif path is None or path[0] not in self._own_names:
            # A method of the file's own; if it is torch's after all, the trace of the calls shows it.
            methods = [name for name in (names if loads else names[:-1]) if name not in self._own_methods]
            bad = next((name for name in methods if self._forbidden.names(f"torch.Tensor.{name}")), None)
            if bad is not None:
                yield _forbidden(line, f"torch.Tensor.{bad}")

    def _judge(self, line: int, path: list[str]) -> Iterator[Named]:
        """Yield a forbidden name of torch, checked from its last `torch` on, or of Triton."""
        if "torch" in path:
            yield from self._inside(line, path[len(path) - 1 - path[::-1].index("torch") :])
        elif path[0] == "triton" and len(path) > 1:
            fault = path[1] not in self._rules.kernel_names
            if fault:
                yield self._refused(line, ".".join(path[:3]))
            elif any(self._forbidden.names(f"triton.{name}") for name in path[2:]):
                yield _forbidden(line, ".".join(path[:_LONGEST_PATH]))
        elif path[0] in self._roots:
            yield from self._inside(line, path)

    def _inside(self, line: int, path: list[str]) -> Iterator[Named]:
        """Yield the first forbidden part of a path into a module; only some submodules are allowed."""
        dotted, module = path[0], sys.modules.get(path[0])
        judged = dotted == "torch"
        for place, part in enumerate(path[1:], 1):
            held = vars(module).get(part) if module is not None else None
            inner = held if isinstance(held, ModuleType) else None
            if module is not None and held is None and _is_module(f"{dotted}.{part}"):
                dotted, inner = f"{dotted}.{part}", None
                allowed = self._may_use(dotted)
            else:
                dotted = inner.__name__ if inner is not None else f"{dotted if place < _LONGEST_PATH else ''}.{part}"
                allowed = inner is None or self._may_use(dotted)
            if judged and self._forbidden.names(dotted):
                yield _forbidden(line, dotted)
                return
            private = judged and module is not None and part.startswith("_") and not part.startswith("__")
            if private or not allowed:
                yield self._refused(line, dotted)
                return
            module = inner
            judged = dotted.startswith("torch.") if inner is not None else judged

    def _may_use(self, module: str) -> bool:
        root = module.partition(".")[0]
        return module in self._rules.modules if root == "torch" else root in self._roots

    def _ends_in_module(self, path: list[str]) -> bool:
        module: Any = sys.modules.get("torch")
        for part in path[1:]:
            module = vars(module).get(part) if isinstance(module, ModuleType) else None
        return isinstance(module, ModuleType) or path[0] == "triton"

    def _path(self, node: ast.expr) -> list[str] | None:
        """Return the parts of a dotted name, with an alias in its first part resolved."""
        base, names = _base(node) if isinstance(node, ast.Attribute) else (node, [])
        if not isinstance(base, ast.Name):
            return None
        path = [*self._aliased(base), *names]
        return path[len(path) - 1 - path[::-1].index("torch") :] if "torch" in path else path

    def _aliased(self, name: ast.Name) -> list[str]:
        return self._aliases.get(name.id) or [name.id]

    def _refused(self, line: int, shown: str, name: str = "") -> Named:
        return Named(line, name or shown, ("out-of-bounds", {"line": line, "name": shown}))


def _forbidden(line: int, dotted: str) -> Named:
    return Named(line, dotted, ("forbidden-call", {"line": line, "name": shown_name(dotted)}))


def shown_name(dotted: str) -> str:
    """Return a name of torch in its usual spelling."""
    return dotted.replace("torch.nn.functional.", "F.").replace("torch.Tensor.", "Tensor.")


def _is_module(dotted: str) -> bool:
    """Return True if torch imports this submodule on first access."""
    try:
        return dotted.startswith("torch.") and find_spec(dotted) is not None
    except (ImportError, ValueError, AttributeError, OSError):
        return False


def _parts_of(module: str) -> list[str]:
    return module.split(".", _LONGEST_PATH)[:_LONGEST_PATH]


def _base(node: ast.Attribute) -> tuple[ast.expr, list[str]]:
    """Return the first part of `base.a.b.c` and the names after it."""
    names: list[str] = []
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        names.append(inner.attr)
        inner = inner.value
    return inner, names[::-1]


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a function, `self` left out: positional, keyword-only, and required ones."""

    positional: Sequence[str]
    defaults: int
    keywords: Sequence[str]
    needed: Sequence[str]
    more_positional: bool
    more_keywords: bool

    @classmethod
    def of(cls, arguments: ast.arguments, method: bool = False) -> Signature:
        names = [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
        named = list(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
        return cls(
            names[1:] if method else names,
            len(arguments.defaults),
            [a.arg for a, _ in named],
            [a.arg for a, default in named if default is None],
            arguments.vararg is not None,
            arguments.kwarg is not None,
        )


def signatures(tree: ast.Module, entry: Iterable[str]) -> dict[str, Any]:
    """Return the signatures of entry functions, and of constructor and public methods of entry classes."""
    found: dict[str, Any] = {}
    wanted = set(entry)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in wanted:
            found[node.name] = asdict(Signature.of(node.args))
        elif isinstance(node, ast.ClassDef) and node.name in wanted:
            methods = [f for f in node.body if isinstance(f, ast.FunctionDef)]
            public = [f for f in methods if f.name == "__init__" or not f.name.startswith("_")]
            found[node.name] = {"methods": {f.name: asdict(Signature.of(f.args, method=True)) for f in public}}
    return found


def entry_problem(mine: Mapping[str, Any], due: Mapping[str, Any]) -> Problem | None:
    """Return the first reason why calls for the signatures `due` do not fit `mine` (both by name), or None."""
    pairs: list[tuple[str, Any, Any]] = []
    for name, wanted in due.items():
        offered = mine.get(name)
        if offered is None or ("methods" in wanted) != ("methods" in offered):
            continue
        if "methods" in wanted:
            of_class = offered["methods"]
            pairs += [(f"{name}.{m}", of_class[m], w) for m, w in wanted["methods"].items() if m in of_class]
        else:
            pairs.append((name, offered, wanted))
    problems = (_signature_problem(name, Signature(**got), Signature(**wanted)) for name, got, wanted in pairs)
    return next((problem for problem in problems if problem is not None), None)


def _signature_problem(name: str, mine: Signature, due: Signature) -> Problem | None:
    """Return the reason why calls for `due` do not fit `mine`, or None.

    Required parameters are passed by position, so their names are free; parameters with defaults are also passed by
    name. Extra parameters need defaults.
    """
    wanted, offered = due.positional, mine.positional
    asked = f"{name}({', '.join(wanted)})"
    required_due = len(wanted) - due.defaults
    if not mine.more_positional and len(offered) < len(wanted):
        return "too-few-parameters", {"name": name, "count": len(offered), "asked": asked}
    for k in range(required_due, len(wanted)):
        if k < len(offered) and offered[k] != wanted[k] and not mine.more_keywords:
            parts = {"number": k + 1, "name": name, "got": offered[k], "asked": asked, "due": wanted[k]}
            return "other-parameter-name", parts
    if len(offered) - mine.defaults > required_due:
        return "more-required-parameters", {"name": name, "asked": asked}
    missing = {*due.keywords} - {*offered, *mine.keywords} if not mine.more_keywords else set()
    if missing or {*mine.needed} - {*due.keywords}:
        return "other-keywords", {"name": name, "asked": asked}
    return None
