"""What may happen to a run, drawn from a seed: the same seed gives the same scenario each time."""

from __future__ import annotations

import errno
import functools
import random
import signal
from dataclasses import dataclass
from pathlib import Path

HANGS_S = 5.0
FIRST_FRAME, LAST_FRAME = "the first frame", "the last frame"


@dataclass(frozen=True)
class Phase:
    """A stretch of a run: the events that open and close it, about how long it lasts, and the
    roles that have processes in it."""

    name: str
    opens: str | None
    closes: str
    lasts_s: float
    roles: tuple[str, ...]


VIEWING = ("early", "interchange", "manager", "worker")
MODEL = ("supervisor", "model")
PHASES = (
    Phase("starting", None, "run.started", 2.5, ("driver",)),
    Phase("making the buffer", "run.started", "buffer.created", 1.5, ("driver", "interchange")),
    Phase("staging in", "buffer.created", "simulation.submitted", 4.0, ("driver", *VIEWING)),
    Phase(
        "before the first frame", "simulation.submitted", FIRST_FRAME, 1.5,
        ("driver", *MODEL, *VIEWING),
    ),
    Phase("between frames", FIRST_FRAME, LAST_FRAME, 2.0, ("driver", *MODEL, *VIEWING, "prober")),
    Phase(
        "after the last frame", LAST_FRAME, "stageout.done", 2.0, ("driver", *MODEL, *VIEWING)
    ),
    Phase("giving back", "stageout.done", "run.ended", 1.0, ("driver", "interchange")),
)  # fmt: skip

ROLES = {
    "driver": "*-m burstlens *",
    "survey": "*recipe.survey*",
    "early": "*multiprocessing.spawn*",
    "supervisor": "*supervisor.py *",
    "model": "*replay.py *",
    "prober": "*frames.hdf5*",
    "interchange": "*cluster_configs.interchange*",
    "manager": "*-m burstlens.cluster_configs.worker_pool*",
    "worker": "*multiprocessing.forkserver*",
}
"""A pattern of the command by which each process is known when it starts."""

PLACES = {
    "journal": "*/runs/r/journal*",
    "status": "*/runs/r/.status.json*",
    "claim": "*/runs/r/driver-*",
    "facts": "*/runs/r/*.json*",
    "recipe": "*/runs/r/recipe.toml*",
    "attempts": "*/runs/r/attempts*",
    "control": "*/runs/r/control*",
    "incoming": "*/runs/r/products/.incoming*",
    "index": "*/runs/r/products/index*",
    "live": "*/runs/r/products/live*",
    "products": "*/runs/r/products*",
    "logs": "*/runs/r/logs*",
    "output": "*/runs/r/output*",
    "parsl": "*/runs/r/parsl*",
    "files": "*/runs/r/files*",
    "run-folder": "*/runs*",
    "staged-inputs": "*/buffer/*/inputs*",
    "frames": "*/buffer/*/wrfout*",
    "made": "*/buffer/*/out/*",
    "model-folder": "*/buffer/*/[0-9]*",
    "buffer": "*/buffer*",
    "inputs": "*/inputs*",
    "temporary": "*/tmp/*",
    "programs": "*",
    "notice": "inet:127.0.0.1:{notice_port}",
}
"""The paths that calls are told apart by."""

NETWORK = (errno.ETIMEDOUT, errno.ECONNRESET)
STORAGE = (errno.EIO, errno.ESTALE, errno.ETIMEDOUT)
ROOM = (errno.EDQUOT, errno.ENOSPC)
DONE = {"mkdir": errno.EEXIST, "unlink": errno.ENOENT, "rmdir": errno.ENOENT}
"""What a call that was made is reported as when it is repeated, as by NFS; others with EIO."""
READS, WRITES = ("read", "pread"), ("write", "pwrite", "copy")
CHANGES = ("rename", "link", "symlink", "unlink", "mkdir", "rmdir", "truncate", "chmod", "fsync")


@dataclass(frozen=True)
class OutsideCall:
    """One kind of call of a process beyond its memory, and how often one run makes it."""

    role: str
    call: str
    place: str
    count: int

    def effects(self) -> tuple[tuple[str, int], ...]:
        """What may become of it: the injector's effect, with the number of an error."""
        hang = (("hang", 0),)
        if self.place == "notice":
            return (*(("error", number) for number in NETWORK), *hang)
        if self.call == "close":  # delayed writes fail here; the descriptor is gone all the same
            return (*(("done", number) for number in (*STORAGE, *ROOM)), *hang)
        if self.call == "exec":
            return ("error", errno.EIO), ("error", errno.ENOMEM), ("error", errno.ETXTBSY), *hang
        errors = tuple(("error", number) for number in STORAGE)
        if self.call in READS:
            return *errors, ("short", 0), *hang
        if self.call in ("stat", "opendir", "statvfs"):
            return *errors, *hang
        if self.call not in ("unlink", "rmdir"):
            errors += tuple(("error", number) for number in ROOM)
        done = (("done", DONE.get(self.call, errno.EIO)), ("done", errno.ETIMEDOUT))
        return (*errors, *done, *hang, *((("short", 0),) if self.call in WRITES else ()))


def outside_calls() -> tuple[OutsideCall, ...]:
    """All kinds that a run makes, as the injector has counted them in one."""
    lines = Path(__file__).with_name("outside_calls.txt").read_text().splitlines()
    words = (line.split() for line in lines)
    return tuple(OutsideCall(role, call, place, int(n)) for role, call, place, n in words)


@dataclass(frozen=True)
class Scenario:
    """One disturbance of one run."""

    seed: int
    kind: str
    """``kill``, ``call``, ``room`` or ``clock``."""
    variation: str
    """The recipe and the model's output: ``pictures``, ``crops`` or ``growing``."""
    role: str
    """Whose process; ``all`` for a clock."""
    phase: Phase
    after_s: float
    """When, from the beginning of the phase."""
    number: int = 0
    """The signal, the call's number, or the seconds by which a clock is set."""
    lasts_s: float = 0.0
    """How long a process is paused, room is missing or a clock stays wrong; 0: for ever."""
    call: OutsideCall | None = None
    effect: tuple[str, int] = ("", 0)
    place: str = ""
    """Of room that is missing: ``runs``, ``buffer`` or ``tmp``, and ``blocks`` or ``inodes``."""

    def __str__(self) -> str:
        when = f"{self.phase.name} +{self.after_s:.1f} s"
        if self.call is not None:
            effect, number = self.effect
            error = errno.errorcode.get(number, "")
            which = f"{self.call.call} of {self.call.place} #{self.number}"
            what = f"{self.role}: {which} {effect} {error}"
        elif self.kind == "kill":
            what = f"{signal.Signals(self.number).name} to {self.role}, {when}"
        elif self.kind == "room":
            what = f"no {self.place}, {when}"
        else:
            what = f"clock of {self.role} by {self.number:+d} s, {when}"
        lasts = f", for {self.lasts_s:.1f} s" if self.lasts_s else ""
        return f"{self.variation}: {what.strip()}{lasts}"


@functools.cache
def every_effect() -> list[tuple[OutsideCall, tuple[str, int]]]:
    """Each effect on each outside call, mixed: so many seeds in a row draw each of them once."""
    every = [(call, effect) for call in outside_calls() for effect in call.effects()]
    random.Random(1).shuffle(every)
    return every


KINDS = ("kill", "call", "room", "clock")


def draw(seed: int, kind: str) -> Scenario:
    """The scenario of that kind and seed."""
    dice = random.Random(f"{kind} {seed}")
    variation = dice.choice(("pictures", "crops", "crops", "growing"))
    phase = dice.choice(PHASES)
    role, after_s = dice.choice(phase.roles), dice.uniform(0, phase.lasts_s)
    if kind == "kill":
        number = dice.choice((signal.SIGKILL,) * 7 + (signal.SIGTERM,) * 2 + (signal.SIGSTOP,))
        if role == "driver" and dice.random() < 0.15:
            number = signal.SIGINT
        lasts_s = dice.uniform(2, 12) if number == signal.SIGSTOP else 0.0
        return Scenario(seed, kind, variation, role, phase, after_s, int(number), lasts_s)
    if kind == "call":
        call, effect = every_effect()[seed % len(every_effect())]
        number = round(call.count ** dice.random())  # more often one of the first
        recipe = "growing" if call.role == "prober" else "pictures"
        lasts_s = HANGS_S if effect[0] == "hang" else 0.0
        return Scenario(
            seed, kind, recipe, call.role, PHASES[0], 0.0, number, lasts_s, call, effect
        )  # fmt: skip
    lasts_s = dice.uniform(1, 6)
    if kind == "room":
        place = f"{dice.choice(('blocks', 'inodes'))} in {dice.choice(('runs', 'buffer', 'tmp'))}"
        return Scenario(seed, kind, variation, "", phase, after_s, 0, lasts_s, place=place)
    who = dice.choice(("all", "all", "driver", "early", "supervisor", "manager", "worker"))
    seconds = dice.choice((3600, -3600, 86400, -86400))
    back = dice.choice((0.0, lasts_s))
    return Scenario(seed, kind, variation, who, phase, after_s, seconds, back)
