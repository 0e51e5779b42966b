"""Scanpoint's agent: finds the boundaries of Mamba models in a running process and stops there.

It lives in the process that is debugged, is driven by debugpy's frame-less `evaluate`, and answers
with events through debugpy's own connection. It needs the standard library only.
"""

from .dispatch import call

__all__ = ["call"]
