"""A small DAP client of a real debugpy, which does what the proxy does to bring the agent in."""

from __future__ import annotations

import json
import os
import queue
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

AGENT = str(Path(__file__).parents[2] / "runtime" / "agent")
SECONDS = 30.0


class Session:
    """One debugging session: requests by name, events from a queue, the agent by `ask`."""

    def __init__(self, port: int | None = None):
        """Starts debugpy's adapter; with a port, connects to that of a process that listens."""
        self.process = self.socket = None
        if port is None:
            command = [sys.executable, "-m", "debugpy.adapter"]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self.reader, self.writer = self.process.stdout, self.process.stdin
        else:
            self.socket = socket.create_connection(("127.0.0.1", port))
            self.reader, self.writer = self.socket.makefile("rb"), self.socket.makefile("wb")
        self.sequence = 0
        self.responses: dict[int, queue.Queue] = {}
        self.events: list[dict] = []
        self.changed = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        if self.socket:
            self.socket.close()
        else:
            self.process.kill()
            self.process.wait()

    def _read(self) -> None:
        while line := self.reader.readline():
            length = int(line.split(b":")[1])
            self.reader.readline()
            self._take(json.loads(self.reader.read(length)))

    def _take(self, message: dict) -> None:
        if message["type"] == "response":
            self.responses[message["request_seq"]].put(message)
            return
        with self.changed:
            self.events.append(message)
            self.changed.notify_all()

    def send(self, command: str, **arguments) -> queue.Queue:
        """Sends a request; the response comes in the queue."""
        self.sequence += 1
        answer = self.responses[self.sequence] = queue.Queue()
        message = {"seq": self.sequence, "type": "request", "command": command}
        text = json.dumps({**message, "arguments": arguments}).encode()
        self.writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        self.writer.flush()
        return answer

    def request(self, command: str, **arguments) -> dict:
        """Sends a request and gives the body of its response; raises when it failed."""
        response = self.send(command, **arguments).get(timeout=SECONDS)
        assert response["success"], f"{command}: {response.get('message')}"
        return response.get("body") or {}

    def wait(self, matches, what: str) -> dict:
        """The first event, taken out, for which `matches` holds."""
        until = time.monotonic() + SECONDS
        with self.changed:
            while True:
                for event in self.events:
                    if matches(event):
                        self.events.remove(event)
                        return event
                left = until - time.monotonic()
                if left <= 0 or not self.changed.wait(left):
                    raise TimeoutError(f"no {what}; events: {self.events[-5:]}")

    def event(self, name: str) -> dict:
        """The body of the next event of this name."""
        return self.wait(lambda event: event["event"] == name, name).get("body") or {}

    def ours(self, key: str) -> dict:
        """What the agent sent next under this key, e.g. "stop"."""
        event = self.wait(lambda event: event["event"] == "scanpoint" and key in event["body"], key)
        return event["body"][key]

    def evaluate(self, expression: str) -> None:
        """Runs a line in the process, in no frame."""
        self.request("evaluate", expression=expression, context="repl")

    def ask(self, method: str, **args):
        """Asks the agent; raises with its sentence when it could not answer."""
        return self._answer(self.tell(method, **args))

    def tell(self, method: str, **args) -> int:
        """Asks the agent without waiting for the answer; gives the request's number."""
        self.sequence += 1
        number = self.sequence
        text = json.dumps({"id": number, "method": method, "args": args})
        self.evaluate(f"__import__('scanpoint_agent').call({text!r})")
        return number

    def _answer(self, number: int):
        event = self.wait(
            lambda event: (
                event["event"] == "scanpoint" and event["body"].get("reply", {}).get("id") == number
            ),
            f"reply {number}",
        )
        reply = event["body"]["reply"]
        if "error" in reply:
            raise RuntimeError(reply["error"])
        return reply["result"]

    def inject(self, **settings) -> None:
        """Brings the agent in, as the proxy does; `start` answers to number 0."""
        start = json.dumps({"id": 0, "method": "start", "args": {"settings": settings}})
        self.evaluate(
            f"import sys; sys.path.append({AGENT!r}) if {AGENT!r} not in sys.path else None; "
            f"import scanpoint_agent as _a; _a.call({start!r}); del _a"
        )

    def launch(self, program, agent: bool = True, probes: list | None = None, **options) -> dict:
        """Starts a program with the agent and its breakpoints in it, as far as its first line."""
        settings = options.pop("settings", {})
        self._initialize()
        arguments = {
            "program": str(program),
            "python": [sys.executable],
            "cwd": str(Path(program).parent),
            "console": "internalConsole",
            "rules": [{"path": AGENT + "/**", "include": False}],
            "env": {"PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"},
            **options,
        }
        launched = self.send("launch", **arguments)
        return self._configure(launched, agent, settings, probes)

    def attach(self, probes: list | None = None, **settings) -> dict:
        """Brings the agent into the process that was connected to."""
        self._initialize()
        rules = [{"path": AGENT + "/**", "include": False}]
        attached = self.send("attach", rules=rules, justMyCode=True)
        return self._configure(attached, True, settings, probes)

    def _initialize(self) -> None:
        self.request("initialize", clientID="test", adapterID="debugpy", pathFormat="path")

    def _configure(self, started, agent: bool, settings: dict, probes: list | None) -> dict:
        # debugpy's adapter keeps all events back until configurationDone, so answers come after it.
        self.event("initialized")
        if agent:
            self.inject(**settings)
        number = None if probes is None else self.tell("setProbes", probes=probes)
        self.request("setExceptionBreakpoints", filters=[])
        self.request("configurationDone")
        response = started.get(timeout=SECONDS)
        assert response["success"], response.get("message")
        answer = {"started": self._answer(0)} if agent else {}
        return answer if number is None else {**answer, "probes": self._answer(number)}

    def stopped(self) -> tuple[int, list[dict]]:
        """Waits for the next stop; gives the thread and its stack."""
        thread = self.event("stopped")["threadId"]
        return thread, self.stack(thread)

    def stack(self, thread: int) -> list[dict]:
        """The frames of a thread, innermost first."""
        return self.request("stackTrace", threadId=thread)["stackFrames"]

    def variables(self, frame: dict) -> dict[str, dict]:
        """The local variables of a frame by name."""
        scope = self.request("scopes", frameId=frame["id"])["scopes"][0]
        found = self.request("variables", variablesReference=scope["variablesReference"])
        return {variable["name"]: variable for variable in found["variables"]}

    def resume(self, thread: int, command: str = "continue") -> None:
        """Continues or steps."""
        self.request(command, threadId=thread)

    def end(self) -> tuple[int, str]:
        """Waits for the end of the program; gives its exit code and all that it wrote."""
        code = self.event("exited")["exitCode"]
        written = [
            event["body"]["output"]
            for event in list(self.events)
            if event["event"] == "output" and event["body"].get("category") in ("stdout", "stderr")
        ]
        return code, "".join(written)


def environment() -> dict[str, str]:
    """The environment of a process started beside a session."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
