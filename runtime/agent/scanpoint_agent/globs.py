"""Globs over module paths: `*` and `?` stay within one part of the path, `**` crosses dots."""

from __future__ import annotations

import re
from typing import Callable


def matcher(glob: str) -> Callable[[str], bool]:
    """A test of paths for a glob, as `matchGlob` of src/protocol/breakpointSpec.ts."""
    parts = (
        re.escape(part).replace(r"\*", "[^.]*").replace(r"\?", "[^.]") for part in glob.split("**")
    )
    pattern = re.compile(".*".join(parts))
    return lambda path: pattern.fullmatch(path) is not None
