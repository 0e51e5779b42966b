"""Functions that look whether somebody wants to know of their calls, in place of the originals.

A function's code is replaced, not the function: every name that it was imported under, before or
after, then leads to us. The new code has the same parameters, so a call costs one look at an empty
list. What it needs comes as a keyword-only default, which torch.compile follows like any other.
"""

from __future__ import annotations

import inspect
import os
import sys
import threading
from operator import attrgetter
from types import CodeType, FrameType, FunctionType, SimpleNamespace

from . import calls, guarded, unfuse
from .targets import Target

_GUARD = "_scanpoint"
_FOLDER = os.path.dirname(__file__)
_SKIP = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class _Depth(threading.local):
    """Boundaries that this thread is inside of."""

    inside: tuple[str, ...] = ()
    opened = ""


_depth = _Depth()
guards: list[Guard] = []


class Guard:
    """What stands between a wrapped function and its original."""

    __slots__ = ("__weakref__", "function", "label", "live", "names", "original", "target")

    def __init__(self, function: FunctionType, target: Target):
        self.function = function
        self.target = target
        self.live = calls.live[target.boundary]
        self.original = _copy(function)
        self.names = _parameter_names(function.__code__)
        self.label = f"{function.__module__}.{function.__qualname__}"

    def __reduce__(self):
        # Whoever pickles functions by value gets one that works without us.
        state = {"live": (), "original": self.original, "cut": attrgetter("tb_next")}
        return (SimpleNamespace, (), state)

    def run(self, *values):
        """One call while somebody wants to know of it."""
        if guarded.busy() or self.target.boundary in _depth.inside or not _eager():
            return self._plain(values)
        how = guarded.run(self.label, self._how, values, sys._getframe(2), disarm=self.disarm)
        return how(values) if how else self._plain(values)

    def _how(self, values: tuple, frame: FrameType):
        """What is to be done with a call instead of the plain one: a function of its values."""
        arguments = dict(zip(self.names, values))
        composed = unfuse.composed(self, arguments) if unfuse.wanted() else None
        if composed is not None:
            return lambda _: self._opened(composed)
        call = calls.begin(self.target, self.label, arguments, frame)
        if call is None:
            return None
        call.original = self.original
        call.note = call.note or _depth.opened
        return lambda values: self._observed(call, values)

    def _opened(self, composed):
        before = _depth.opened
        _depth.opened = f"inside {self.function.__name__}, opened"
        try:
            return composed()
        finally:
            _depth.opened = before

    def _observed(self, call: calls.Call, values: tuple):
        guarded.run(self.label, calls.tell, call, disarm=self.disarm)
        before = _depth.inside
        _depth.inside = (*before, self.target.boundary)
        try:
            result = self._plain(values)
        finally:
            _depth.inside = before
        guarded.run(self.label, self._exit, call, result, disarm=self.disarm)
        return result

    def _exit(self, call: calls.Call, result: object) -> None:
        calls.tell(call.at_exit(self.target, result))

    def _plain(self, values: tuple):
        return _invoke(self.original, self.names, values)

    @staticmethod
    def cut(traceback):
        """The traceback without our frames. Before Python 3.11 the first one stays."""
        rest = traceback
        while rest is not None and rest.tb_frame.f_code.co_filename.startswith(_FOLDER):
            rest = rest.tb_next
        if traceback is not None and traceback is not rest:
            traceback.tb_next = rest
        return rest

    def disarm(self) -> None:
        """Makes this one function inert, after a failure of ours in it."""
        self.live = ()


def wrap(function: object, target: Target) -> bool:
    """Puts a guard into a Python function; False where that can't be done or is done already."""
    if not isinstance(function, FunctionType) or function.__code__.co_flags & _SKIP:
        return False
    if wrapped(function):
        return False
    guard = Guard(function, target)
    trampoline = _trampoline(function.__code__)
    function.__kwdefaults__ = {**(function.__kwdefaults__ or {}), _GUARD: guard}
    function.__code__ = trampoline
    function.__wrapped__ = guard.original
    guards.append(guard)
    return True


def wrapped(function: object) -> bool:
    """Whether a function has a guard already."""
    return _GUARD in (getattr(function, "__kwdefaults__", None) or {})


def unwrap_all() -> None:
    """Gives every function its own code back."""
    for guard in guards:
        function = guard.function
        function.__code__ = guard.original.__code__
        function.__kwdefaults__ = guard.original.__kwdefaults__
        if getattr(function, "__wrapped__", None) is guard.original:
            del function.__wrapped__
    guards.clear()


def _copy(function: FunctionType) -> FunctionType:
    copy = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__, copy.__module__ = function.__qualname__, function.__module__
    copy.__doc__, copy.__annotations__ = function.__doc__, function.__annotations__
    copy.__dict__.update(function.__dict__)
    return copy


def _parameter_names(code: CodeType) -> tuple[str, ...]:
    """All parameters in the order in which the guard gets them; `*args` and `**kwargs` last."""
    plain = code.co_argcount + code.co_kwonlyargcount
    starred = bool(code.co_flags & inspect.CO_VARARGS) + bool(
        code.co_flags & inspect.CO_VARKEYWORDS
    )
    return code.co_varnames[: plain + starred]


def _trampoline(code: CodeType) -> CodeType:
    """Code with the parameters of `code` that asks the guard and calls the original."""
    positional_only = code.co_varnames[: code.co_posonlyargcount]
    positional = code.co_varnames[code.co_posonlyargcount : code.co_argcount]
    plain = code.co_argcount + code.co_kwonlyargcount
    keywords = code.co_varnames[code.co_argcount : plain]
    rest = list(code.co_varnames[plain:])
    star = rest.pop(0) if code.co_flags & inspect.CO_VARARGS else None
    stars = rest.pop(0) if code.co_flags & inspect.CO_VARKEYWORDS else None

    header = [*positional_only, *(["/"] if positional_only else []), *positional]
    header += [f"*{star}" if star else "*", *keywords, f"{_GUARD}=None"]
    header += [f"**{stars}"] if stars else []
    values = [*positional_only, *positional]
    handed = [*values, *keywords, *([star] if star else []), *([stars] if stars else [])]
    passed = values + ([f"*{star}"] if star else []) + [f"{name}={name}" for name in keywords]
    passed += [f"**{stars}"] if stars else []
    return _compile(code, ", ".join(header), ", ".join(handed), ", ".join(passed))


_SOURCE = """
def outer({free}):
    def {name}({header}):
        try:
            if {guard}.live:
                return {guard}.run({handed})
            return {guard}.original({passed})
        except BaseException as {guard}_error:
            {guard}_error.__traceback__ = {guard}.cut({guard}_error.__traceback__)
            raise
        {free}
"""


def _compile(code: CodeType, header: str, handed: str, passed: str) -> CodeType:
    name = code.co_name if code.co_name.isidentifier() else "function"
    free = ", ".join(code.co_freevars)
    source = _SOURCE.format(
        free=free, name=name, header=header, handed=handed, passed=passed, guard=_GUARD
    )
    module = compile(source, __file__, "exec", dont_inherit=True)
    outer = next(const for const in module.co_consts if isinstance(const, CodeType))
    inner = (const for const in outer.co_consts if isinstance(const, CodeType))
    return next(inner).replace(co_name=code.co_name, co_firstlineno=1)


def _invoke(function: FunctionType, names: tuple[str, ...], values: tuple):
    """Calls a function with the values of all its parameters, in the order of `names`."""
    code = function.__code__
    count = code.co_argcount
    plain = count + code.co_kwonlyargcount
    extra = list(values[plain:])
    star = extra.pop(0) if code.co_flags & inspect.CO_VARARGS else ()
    stars = extra.pop(0) if code.co_flags & inspect.CO_VARKEYWORDS else {}
    keywords = dict(zip(names[count:plain], values[count:plain]))
    return function(*values[:count], *star, **keywords, **stars)


def _eager() -> bool:
    """Whether tensors have values here: not while a compiler or a tracer reads the program."""
    torch = guarded.torch()
    try:
        compiler = getattr(torch, "compiler", None)
        if compiler is not None and compiler.is_compiling():
            return False
        # A look at a value would spoil a CUDA graph that is being captured.
        if torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing():
            return False
        return not torch.jit.is_tracing() and not torch.jit.is_scripting()
    except AttributeError:  # PyTorch is not there, or not all of it yet
        return False
