"""Finding the functions that are boundaries: in modules that are there, and as new ones run.

A module that may define one gets, right after each definition in question, an expression that shows
us the new function; it is made of a constant and adds no name, line or frame. That works for the
script itself, for decorated functions and methods, and before anything can import a name.
"""

from __future__ import annotations

import ast
import dis
import re
import sys
import sysconfig
import warnings
from fnmatch import translate
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, FunctionType, ModuleType
from typing import Callable, ClassVar

from . import guarded, steps, targets, wrap

# Packages below site-packages that may define a boundary; a person's own code is always looked at.
_PACKAGES = re.compile("|".join(map(translate, (
    "mamba_ssm*", "mamba*", "causal_conv1d*", "*selective_scan*", "vmamba*", "vim*", "zeta.nn*",
    "transformers.models.*.modeling_*", "transformers_modules*",
))))  # fmt: skip
_OWN = __name__.partition(".")[0]
_LIBRARY = tuple(
    path
    for key in ("stdlib", "platstdlib", "purelib", "platlib")
    if (path := sysconfig.get_path(key))
)


class _Settings:
    extra: ClassVar[list[str]] = []
    found: ClassVar[list[Callable[[str], None]]] = []
    torch: ClassVar[list[Callable[[], None]]] = []


def configure(scan_functions: list[str]) -> None:
    """Names or globs that a person says are scans too."""
    _Settings.extra = list(scan_functions)


def on_found(listener: Callable[[str], None]) -> None:
    """Calls `listener` with the boundary of each function that is found from now on."""
    _Settings.found.append(listener)


def on_torch(listener: Callable[[], None]) -> None:
    """Calls `listener` once PyTorch's modules and optimisers can be hooked."""
    _Settings.torch.append(listener)


def _look_for_torch() -> None:
    """Both are followed by further imports of PyTorch's, at which they are there."""
    module = sys.modules.get("torch.nn.modules.module")
    optimizer = sys.modules.get("torch.optim.optimizer")
    if hasattr(module, "Module") and hasattr(optimizer, "Optimizer") and guarded.torch():
        listeners = list(_Settings.torch)
        _Settings.torch.clear()
        for listener in listeners:
            listener()


def interesting(name: str, origin: str | None) -> bool:
    """Whether a module is a person's own, or one of the family's packages."""
    if name == _OWN or name.startswith((_OWN + ".", "debugpy", "_pydev", "pydevd")):
        return False
    if _PACKAGES.match(name):
        return True
    if not origin or origin.startswith("<"):
        return False
    path = origin.replace("\\", "/")
    installed = "/site-packages/" in path or "/dist-packages/" in path
    return not installed and not origin.startswith(_LIBRARY)


def consider(function: object, module: str, qualname: str) -> None:
    """Wraps a function if it is a boundary."""
    target = targets.find(module, qualname, _Settings.extra)
    if target is None:
        return
    function = _innermost(function)
    if _only_none(function) or not wrap.wrap(function, target):
        return
    steps.watch()
    for listener in list(_Settings.found):
        listener(target.boundary)


def _innermost(function: object) -> object:
    """The function under its decorators: it has the arguments' names, and all callers reach it."""
    function = getattr(function, "__func__", function)
    while hasattr(function, "__wrapped__") and not wrap.wrapped(function):
        function = function.__wrapped__
    return function


def _only_none(function: object) -> bool:
    """Whether a function does nothing, as where a library marks that it has no fused kernel."""
    if not isinstance(function, FunctionType):
        return False
    code = [step for step in dis.get_instructions(function) if step.opname not in ("RESUME", "NOP")]
    return all(step.opname.startswith(("LOAD_CONST", "RETURN")) for step in code) and not any(
        step.argval is not None for step in code
    )


def scan_loaded() -> None:
    """Looks through the modules that are loaded."""
    for name, module in list(sys.modules.items()):
        if isinstance(module, ModuleType):
            origin = getattr(module, "__file__", None)
            if name == "__main__" or interesting(name, origin):
                guarded.run(f"looking through {name}", scan_module, module)


def scan_module(module: ModuleType) -> None:
    """Looks through the functions and classes that a module defines."""
    name = module.__name__
    for value in list(vars(module).values()):
        if isinstance(value, type):
            if value.__module__ == name:
                for method, function in list(vars(value).items()):
                    consider(function, name, f"{value.__qualname__}.{method}")
        elif isinstance(value, FunctionType) and value.__module__ == name:
            consider(value, name, value.__qualname__)


class _Token:
    """Stands in a module's code as a constant and is shown what the module defines."""

    def found(self, function: object) -> None:
        """One definition that may be a boundary."""
        plain = getattr(function, "__func__", function)
        qualname = getattr(plain, "__qualname__", "")
        module = getattr(plain, "__module__", "") or ""
        guarded.run(f"looking at {qualname}", consider, function, module, qualname)

    def __reduce__(self):
        return (str, ())


_TOKEN = _Token()
_MARK = "scanpoint: defined here"


def prepare(code: CodeType, source: str, filename: str) -> CodeType:
    """A module's code that shows us its definitions; the same code where there is none to show."""
    if not targets.mentioned(source, _Settings.extra):
        return code
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python has given those of this module already
        tree = ast.parse(source)
        planter = _Planter()
        planter.visit(tree)
        if not planter.planted:
            return code
        ast.fix_missing_locations(tree)
        return _with_token(compile(tree, filename, "exec", dont_inherit=True))


class _Planter(ast.NodeTransformer):
    """Puts the expression after each definition whose name is a target's."""

    def __init__(self) -> None:
        self.owners: list[str] = []
        self.planted = 0

    def visit_ClassDef(self, node):
        return self._inside(node, node)

    def visit_FunctionDef(self, node):
        self._inside(node, node)
        qualname = ".".join((*self.owners, node.name))
        if targets.find("", qualname, [glob_of(text) for text in _Settings.extra]) is None:
            return node
        self.planted += 1
        shown = ast.Expr(
            ast.Call(
                ast.Attribute(ast.Constant(_MARK), "found", ast.Load()),
                [ast.Name(node.name, ast.Load())],
                [],
            )
        )
        # On the definition's own first line, so that no debugger sees a line of its own.
        first = node.decorator_list[0] if node.decorator_list else node
        for part in ast.walk(shown):
            ast.copy_location(part, first)
            if hasattr(part, "lineno"):
                part.end_lineno, part.end_col_offset = part.lineno, part.col_offset
        return [node, shown]

    def _inside(self, node, named):
        self.owners.append(named.name)
        self.generic_visit(node)
        self.owners.pop()
        return node


def glob_of(text: str) -> str:
    """The last part of what a person wrote: the module is not known while it is compiled."""
    return text.replace(":", ".").rpartition(".")[2]


def _with_token(code: CodeType) -> CodeType:
    constants = []
    for const in code.co_consts:
        if isinstance(const, CodeType):
            constants.append(_with_token(const))
        else:
            constants.append(_TOKEN if const == _MARK else const)
    return code.replace(co_consts=tuple(constants))


class Finder:
    """The first on `sys.meta_path`: lets the others find, and prepares what is interesting."""

    def find_spec(self, name, path=None, target=None):
        """The spec that the others find, whose loader gives prepared code; or None."""
        if _Settings.torch and name.startswith("torch."):
            guarded.run("hooking PyTorch", _look_for_torch)
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is not None:
                guarded.run("preparing a module", prepare_loader, spec)
                return spec
        return None


def prepare_loader(spec: ModuleSpec) -> None:
    """Lets the loader of a module that is interesting give prepared code, once."""
    loader = spec.loader
    if type(loader) is not SourceFileLoader or not interesting(spec.name, spec.origin):
        return
    plain = loader.get_code

    def get_code(fullname):
        loader.__dict__.pop("get_code", None)
        code = plain(fullname)
        return guarded.run(f"preparing {fullname}", _prepared, loader, fullname, code) or code

    loader.get_code = get_code


def _prepared(loader: SourceFileLoader, name: str, code: CodeType) -> CodeType:
    return prepare(code, loader.get_source(name) or "", loader.get_filename(name))


_FINDER = Finder()


def install() -> None:
    """Looks at what is loaded, and from now on at what is imported or run as the script."""
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
    for name in ("runpy", "_pydevd_bundle.pydevd_runpy"):
        _prepare_scripts(sys.modules.get(name))
    scan_loaded()


def uninstall() -> None:
    """Leaves imports alone again."""
    if _FINDER in sys.meta_path:
        sys.meta_path.remove(_FINDER)


def _prepare_scripts(runner: ModuleType | None) -> None:
    """Scripts and `-m` modules are not imported; their code comes from these two functions."""
    for name, at in (("_get_code_from_file", 0), ("_get_module_details", 2)):
        plain = getattr(runner, name, None)
        if plain is not None and not hasattr(plain, "_scanpoint"):
            setattr(runner, name, _preparing(plain, at))


def _preparing(plain: Callable, at: int) -> Callable:
    def prepared(*args, **kwargs):
        result = plain(*args, **kwargs)
        code = result[at] if isinstance(result, tuple) else result
        new = guarded.run("preparing the script", _prepared_script, code)
        if new is None or _FINDER not in sys.meta_path:
            return result
        return (*result[:at], new, *result[at + 1 :]) if isinstance(result, tuple) else new

    prepared._scanpoint = True
    return prepared


def _prepared_script(code: object) -> CodeType | None:
    if not isinstance(code, CodeType):
        return None
    import tokenize

    with tokenize.open(code.co_filename) as file:
        return prepare(code, file.read(), code.co_filename)
