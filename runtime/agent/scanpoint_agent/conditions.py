"""Conditions, hit counts and log messages of breakpoints, in the process that is debugged.

A condition is a Python expression over a call's names. It is compiled once; our own methods are
rewritten to calls of functions, so that nothing is added to the person's tensors.
"""

from __future__ import annotations

import ast
import builtins
import math
import re
import sys
from types import CodeType
from typing import Callable

from . import functions
from .guarded import is_tensor, torch


class ConditionError(ValueError):
    """A wrong condition, hit count or log message; the text is one sentence for a person."""


_METHOD = "_scanpoint_"
_SCOPE = {
    **{name: value for name, value in vars(builtins).items() if not name.startswith("_")},
    **functions.FUNCTIONS,
    **{_METHOD + name: function for name, function in functions.METHODS.items()},
    "math": math,
}


class Expression:
    """One compiled expression."""

    def __init__(self, text: str):
        self.text = text.strip()
        self.code, self.names = _compile(self.text)

    def value(self, names: dict[str, object], scope: dict | None = None) -> object:
        """The value, with `names` first, then the function's own globals. Raises ConditionError."""
        known = self._known(names, _SCOPE, _modules(), scope or {})
        module = torch()
        try:
            if module is None:
                return eval(self.code, known)
            with module.no_grad():
                return eval(self.code, known)
        except Exception as error:
            raise ConditionError(f"`{self.text}`: {explain(error, self.text)}") from error

    def _known(self, *scopes: dict[str, object]) -> dict[str, object]:
        """The names that the expression uses, each from the first scope that has it."""
        found: dict[str, object] = {"__builtins__": builtins}
        for name in self.names:
            for scope in scopes:
                if name in scope:
                    found[name] = scope[name]
                    break
        return found

    def truth(self, names: dict[str, object], scope: dict | None = None) -> bool:
        """Whether the value counts as true. Raises ConditionError."""
        value = self.value(names, scope)
        if is_tensor(value) and value.numel() != 1:
            raise ConditionError(_no_truth(self.text, value.numel()))
        return bool(value)


def _compile(text: str) -> tuple[CodeType, frozenset[str]]:
    try:
        tree = ast.parse(text, "<condition>", "eval")
    except SyntaxError as error:
        column = f" at column {error.offset}" if error.offset else ""
        raise ConditionError(f"`{text}` is not a Python expression{column}: {error.msg}.") from None
    for node in ast.walk(tree):
        if isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)):
            raise ConditionError(f"`{text}` would change something; a condition only looks.")
    tree = ast.fix_missing_locations(_Methods().visit(tree))
    names = frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    return compile(tree, "<condition>", "eval", dont_inherit=True), names


class _Methods(ast.NodeTransformer):
    """`x.absmax()` -> `_scanpoint_absmax(x)`."""

    def visit_Call(self, node):
        self.generic_visit(node)
        function = node.func
        if not isinstance(function, ast.Attribute) or function.attr not in functions.METHODS:
            return node
        if isinstance(function.value, ast.Name) and function.value.id in ("torch", "np", "math"):
            return node
        name = ast.copy_location(ast.Name(_METHOD + function.attr, ast.Load()), function)
        return ast.copy_location(ast.Call(name, [function.value, *node.args], node.keywords), node)


def _modules() -> dict[str, object]:
    """Modules that a condition may use by their usual names, where the program has them."""
    found = {"torch": torch(), "np": sys.modules.get("numpy")}
    return {name: module for name, module in found.items() if module is not None}


def explain(error: Exception, text: str) -> str:
    """What went wrong with an expression, and what to write instead."""
    message = " ".join(str(error).split())[:300]
    if "ambiguous" in message and "Boolean value" in message:
        return _no_truth(text)
    if isinstance(error, NameError):
        return (
            f"{message}; a boundary knows its tensors (y at exit only), layer, direction and step."
        )
    return f"{type(error).__name__}: {message}"


def _no_truth(text: str, numel: int | None = None) -> str:
    what = "several elements" if numel is None else f"{numel} elements" if numel else "no elements"
    subject = text if re.fullmatch(r"[\w.]+", text) else f"({text})"
    return (
        f"`{text}` has {what} and no single truth value; write {subject}.any() or {subject}.all()."
    )


_HIT = re.compile(r"\s*(==|=|>=|>|<=|<|%)?\s*(\d+)\s*")
_TESTS: dict[str, Callable[[int, int], bool]] = {
    ">=": lambda hit, count: hit >= count,
    ">": lambda hit, count: hit > count,
    "<=": lambda hit, count: hit <= count,
    "<": lambda hit, count: hit < count,
    "%": lambda hit, count: hit % count == 0,
}


def hit_condition(text: str) -> Callable[[int], bool]:
    """`5` is true at the 5th hit only, `>= 5` from then on, `% 10` at every 10th."""
    match = _HIT.fullmatch(text)
    count = int(match.group(2)) if match else 0
    if not match or (match.group(1) == "%" and count == 0):
        raise ConditionError(f'The hit count "{text}" is not understood; write 5, >= 5 or % 10.')
    test = _TESTS.get(match.group(1), lambda hit, count: hit == count)
    return lambda hit: test(hit, count)


class LogMessage:
    """Text with `{expressions}`; `{{` and `}}` are literal braces."""

    def __init__(self, message: str):
        self.parts = [
            Expression(part) if is_expression else part
            for is_expression, part in _split(message)
            if part or is_expression
        ]

    def text(self, names: dict[str, object], scope: dict | None = None) -> str:
        """The message; an expression that fails stands there as its error."""
        return "".join(self._part(part, names, scope) for part in self.parts)

    def _part(self, part, names, scope) -> str:
        if isinstance(part, str):
            return part
        try:
            return show(part.value(names, scope))
        except ConditionError as error:
            return f"<{error}>"


def _split(message: str):
    text, at = "", 0
    while at < len(message):
        char = message[at]
        if char in "{}" and message[at + 1 : at + 2] == char:
            text, at = text + char, at + 2
        elif char == "{":
            end = _closing(message, at)
            yield False, text
            yield True, message[at + 1 : end].strip()
            text, at = "", end + 1
        else:
            text, at = text + char, at + 1
    yield False, text


def _closing(message: str, start: int) -> int:
    depth = 0
    for at in range(start, len(message)):
        depth += {"{": 1, "}": -1}.get(message[at], 0)
        if depth == 0:
            return at
    raise ConditionError(f'The log message "{message}" has a "{{" without its "}}".')


def show(value: object) -> str:
    """A value as text: one number shortly, a tensor by its one line."""
    if is_tensor(value):
        if value.numel() == 1 and not value.is_meta:
            return show(value.item())
        return _line(value)
    return format(value, ".6g") if isinstance(value, float) else str(value)


def _line(tensor) -> str:
    try:
        from .describe import line
    except ImportError:
        return f"{str(tensor.dtype).rpartition('.')[2]} {list(tensor.shape)}"
    return line(tensor)
