"""The numbers that made a condition true, for the text of a stop."""

from __future__ import annotations

import ast

from .conditions import ConditionError, Expression, show
from .guarded import is_tensor
from .text import format_element, format_number

_OPERATORS = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


def numbers(text: str, names: dict[str, object], scope: dict | None = None) -> str:
    """`delta.max() = 0.42 > 0.1` for a condition that holds; the condition itself where no tensor is compared."""
    try:
        return _Description(text, names, scope).of(ast.parse(text, mode="eval").body) or text
    except (ConditionError, SyntaxError, ValueError):
        return text


class _Description:
    def __init__(self, text: str, names: dict[str, object], scope: dict | None):
        self.text, self.names, self.scope = text, names, scope

    def of(self, node: ast.expr) -> str | None:
        """What a part that is true says, or nothing where it is about no tensor."""
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            return " and ".join(part for part in map(self.of, node.values) if part) or None
        if isinstance(node, ast.BoolOp):
            held = next((part for part in node.values if self._holds(part)), None)
            return held and self.of(held)
        if not self._uses_tensor(node):
            return None
        return self._comparison(node) if isinstance(node, ast.Compare) else self._source(node)

    def _comparison(self, node: ast.Compare) -> str:
        operands = [node.left, *node.comparators]
        values = [self._value(operand) for operand in operands]
        plain = {_scalar(value) for value in values} - {None}
        short = len({format_number(x) for x in plain}) == len(plain)
        words = []
        for operand, value in zip(operands, values):
            source = self._source(operand)
            literal = isinstance(operand, (ast.Constant, ast.UnaryOp))
            words.append(source if literal else f"{source} = {_shown(value, short)}")
        signs = [_OPERATORS[type(op)] for op in node.ops]
        return words[0] + "".join(f" {sign} {word}" for sign, word in zip(signs, words[1:]))

    def _uses_tensor(self, node: ast.expr) -> bool:
        used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        return any(is_tensor(self.names.get(name)) for name in used)

    def _holds(self, node: ast.expr) -> bool:
        return Expression(self._source(node)).truth(self.names, self.scope)

    def _value(self, node: ast.expr) -> object:
        return Expression(self._source(node)).value(self.names, self.scope)

    def _source(self, node: ast.expr) -> str:
        return ast.get_source_segment(self.text, node) or ast.unparse(node)


def _scalar(value: object) -> float | None:
    if is_tensor(value):
        value = value.item() if value.numel() == 1 else None
    return float(value) if isinstance(value, (int, float)) else None


def _shown(value: object, short: bool) -> str:
    x = _scalar(value)
    if x is None or isinstance(value, bool):
        return show(value)
    # Numbers that differ are written differently: `0.1 > 0.1` is never said.
    return format_number(x) if short else format_element(x)
