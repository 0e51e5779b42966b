"""A site in words."""

from __future__ import annotations

from .calls import Call


def site_text(call: Call) -> str:
    """A site as src/protocol/site.ts writes it."""
    site = call.site()
    path = site["module"] or "(model)"
    words = [f"{path}:{site['op']}" if "op" in site else path]
    words += [site["direction"]] if "direction" in site else []
    words += ["grad"] if site.get("pass") == "backward" else []
    return " ".join([*words, *([f"#{site['occurrence']}"] if "occurrence" in site else [])])
