"""Numbers and summaries as text, letter by letter as src/protocol/numbers.ts and summary.ts write."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

_BARS = "▁▂▃▄▅▆▇█"
_UNITS = ("B", "kB", "MB", "GB", "TB")


def format_number(x: float) -> str:
    """Three significant digits, scientific outside 1e-4 .. 1e4."""
    special = _special(x)
    if special:
        return special
    magnitude = abs(x)
    if x == int(x) and magnitude < 1e4:
        return str(int(x))
    if magnitude < 1e-4 or magnitude >= 1e4:
        return _exponential(x, 2)
    return _short(format(_rounded(x, 3), "f"))


def format_element(x: float) -> str:
    """A value in full float32 precision, for grids and single elements."""
    special = _special(x)
    if special:
        return special
    magnitude = abs(x)
    if x == int(x) and magnitude < 1e9:
        return str(int(x))
    if magnitude < 1e-4 or magnitude >= 1e4:
        return _exponential(x, 7)
    return _short(format(_rounded(x, 8), "f"))


def _special(x: float) -> str | None:
    if math.isnan(x):
        return "NaN"
    if math.isinf(x):
        return "Inf" if x > 0 else "-Inf"
    return "0" if x == 0 else None


def _rounded(x: float, digits: int) -> Decimal:
    """The exact value rounded to significant digits, ties away from zero as JavaScript does."""
    exact = Decimal(x)
    step = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return exact.quantize(step, rounding=ROUND_HALF_UP)


def _exponential(x: float, decimals: int) -> str:
    value = _rounded(x, decimals + 1)
    power = value.adjusted()
    return f"{_short(format(value.scaleb(-power), 'f'))}e{power}"


def _short(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_count(n: int) -> str:
    """A count with thousands separators: 75648 -> "75,648"."""
    return f"{n:,}"


def format_share(count: int, total: int, what: str) -> str:
    """A count with its share: "12 NaN, 0.02 %"."""
    share = 100 * count / total if total > 0 else 0
    return f"{format_count(count)} {what}, {format_number(share)} %"


def format_bytes(count: float) -> str:
    """Bytes in the unit that keeps the number short: "1.5 MB"."""
    unit = 0
    while count >= 1000 and unit < len(_UNITS) - 1:
        count /= 1000
        unit += 1
    return f"{format_number(count)} {_UNITS[unit]}"


def sparkline(histogram: Sequence[int], width: int = 6) -> str:
    """A histogram in `width` characters, each bar relative to the fullest one."""
    bins = [0] * min(width, len(histogram))
    for i, n in enumerate(histogram):
        bins[i * len(bins) // len(histogram)] += n
    top = max(bins, default=0)
    if top == 0:
        return ""
    return "".join(" " if n == 0 else _BARS[int(n / top * (len(_BARS) - 1) + 0.5)] for n in bins)


def format_summary(s: dict) -> str:
    """The one-line form of a tensor without its name; a note comes last."""
    parts = [] if s["dtype"] == "float32" else [s["dtype"]]
    parts.append(f"[{', '.join(map(str, s['shape']))}]")
    if s["device"] != "cpu":
        parts.append(s["device"])
    parts += _statistics(s)
    return " · ".join([" ".join(parts), *_anomalies(s), *([s["note"]] if s.get("note") else [])])


def one_line(s: dict) -> str:
    """A single number in full, everything else by its statistics."""
    if not s["shape"] and s["min"] is not None:
        return format_element(s["min"])
    return format_summary(s)


def _statistics(s: dict) -> list[str]:
    low, high, mean, std = s["min"], s["max"], s["mean"], s["std"]
    if low is None or high is None or mean is None or std is None:
        return []
    if s["numel"] == 1:
        return [f"= {format_number(low)}"]
    if low == high:
        return [f"all {format_number(low)}"]
    line = sparkline(s["histogram"])
    between = f"{line} " if line else ".. "
    range_ = f"∈ [{format_number(low)} {between}{format_number(high)}]"
    return [range_, f"μ {format_number(mean)}", f"σ {format_number(std)}"]


def _anomalies(s: dict) -> list[str]:
    counts = (("NaN", s["nan"]), ("+Inf", s["posInf"]), ("-Inf", s["negInf"]))
    found = [f"{name} {format_count(n)}" for name, n in counts if n > 0]
    if s["numel"] == 0:
        found.append("empty")
    if not s["contiguous"]:
        found.append(f"strides ({', '.join(map(str, s['strides']))})")
    return found
