"""Text made by the agent is that of the TypeScript formatter, letter by letter.

The fixture holds what src/protocol/numbers.ts and summary.ts write; a unit test over there checks
that it still does.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from scanpoint_agent import text

FIXTURE = json.loads((Path(__file__).parent / "fixtures" / "values_text.json").read_text("utf-8"))
FORMATTERS = {
    "number": text.format_number,
    "element": text.format_element,
    "count": text.format_count,
    "share": lambda count, total: text.format_share(count, total, "NaN"),
    "bytes": text.format_bytes,
    "sparkline": text.sparkline,
    "summary": text.format_summary,
}


@pytest.mark.parametrize("kind", FORMATTERS)
def test_text_is_that_of_the_typescript_formatter(kind: str) -> None:
    written = [FORMATTERS[kind](*values) for *values, _ in FIXTURE[kind]]
    assert written == [expected for *_, expected in FIXTURE[kind]]
    assert len(written) >= 4


def test_a_note_comes_last() -> None:
    summary = {**FIXTURE["summary"][1][0], "note": "of the magnitude"}
    assert text.format_summary(summary) == FIXTURE["summary"][1][1] + " · of the magnitude"


def test_a_number_is_shown_in_full() -> None:
    scalar = next(s for s, _ in FIXTURE["summary"] if s["shape"] == [])
    assert text.one_line(scalar) == "0.1234567"


def test_nothing_of_ours_imports_pytorch() -> None:
    package = Path(text.__file__).parent
    names = [f"scanpoint_agent.{path.stem}" for path in package.glob("[a-z]*.py")]
    program = f"import sys, importlib\nfor name in {names!r}: importlib.import_module(name)\n"
    program += "assert not {'torch', 'numpy'} & set(sys.modules)"
    environment = {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    found = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, found.stderr) == (0, "")
