"""RO-Crate metadata of a run: what ran, with what, when, and which files it made.

RO-Crate 1.1 with the terms of the profile Process Run Crate 0.5, written by ``rocrate``. The run
directory becomes the crate; nothing else in it changes.
"""

from __future__ import annotations

import hashlib
import mimetypes
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from burstlens.clients.opened.file_errors import writing
from burstlens.clients.opened.status import is_over, reasons
from burstlens.clients.opened.view import RunView
from burstlens.core.durable import write_json
from burstlens.core.errors import RunError
from burstlens.core.extras import install_command
from burstlens.core.printable import printable
from burstlens.core.run.facts import facts_of
from burstlens.core.run.status_file import RunStatus

NAME = "ro-crate-metadata.json"
VERSION = "1.1"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
HOME = {"wrf": "https://github.com/wrf-model/WRF"}
"""Home pages of the software of models from other projects."""
HASHED_BYTES = 64 * 2**20
_STATES = {"done": "CompletedActionStatus", "failed": "FailedActionStatus",
           "stopped": "FailedActionStatus", "lost": "FailedActionStatus"}  # fmt: skip
_TYPES = {".jsonl": "application/jsonl", ".toml": "application/toml", ".nc": "application/netcdf",
          ".pvd": "application/xml", ".vti": "application/xml", ".vtr": "application/xml",
          ".vts": "application/xml", ".pvti": "application/xml", ".pvtr": "application/xml",
          ".pvts": "application/xml", ".vtkhdf": "application/x-hdf5"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Crate:
    """Complete metadata at ``path``, describing that number of ``files``."""

    path: Path
    run: str
    files: int


def write_crate(run: RunView) -> Crate:
    """Write the run's ``ro-crate-metadata.json`` into its directory, replacing an older one.

    Raises RunError when ``rocrate`` is not installed or the directory cannot be written.
    """
    try:
        from rocrate.model.contextentity import ContextEntity
        from rocrate.rocrate import ROCrate
    except ImportError as error:
        raise RunError(f"RO-Crates need {error.name}: {install_command('provenance')}") from error
    place, facts, status = run.directory.path, facts_of(run.directory), run.read_status()
    crate = ROCrate(version=VERSION)

    def entity(identifier: str, properties: dict[str, Any]) -> Any:
        return crate.add(ContextEntity(crate, identifier, properties=properties))

    def file(name: str, text: str, *, hashed: bool = False) -> Any:
        about = _about(place / name, name, hashed=hashed) | {"description": text}
        return crate.add_file(place / name, dest_path=name, properties=about)

    title = printable(status.title or run.id)
    recipe: Any = facts.table or {}
    crate.name = title
    crate.description = printable(str(recipe.get("description") or f"The run {run.id}: {title}"))
    crate.root_dataset["license"] = "not stated"
    profile = {"@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"}
    crate.root_dataset["conformsTo"] = entity(PROFILE, profile)
    given = [file(name, text, hashed=True) for name, text in _given(place)]
    came = [file(name, text, hashed=hashed) for name, text, hashed in _came(run)]
    model = str((recipe.get("simulation") or {}).get("model", "model"))
    burstlens = entity("#burstlens", _software("Burstlens", facts.burstlens or ""))
    software = entity(f"#model-{model}", _software(model, "", HOME.get(model, "")))
    software["softwareRequirements"] = burstlens
    action = entity(f"#{run.id}", _action(run.id, title, status))
    action["instrument"] = software
    action["object"] = given
    action["result"] = came
    crate.root_dataset["mentions"] = action
    with writing(place / NAME):
        write_json(place / NAME, crate.metadata.generate(), sync=False)
    return Crate(place / NAME, run.id, len(given) + len(came))


def _software(name: str, version: str, url: str = "") -> dict[str, Any]:
    about = {"@type": "SoftwareApplication", "name": name, "softwareVersion": version, "url": url}
    return {key: value for key, value in about.items() if value}


def _action(run: str, title: str, status: RunStatus) -> dict[str, Any]:
    # An attached run that goes on may be quiet; as an end it is a good one.
    state = "done" if status.state == "quiet" and is_over(status) else status.state
    action: dict[str, Any] = {
        "@type": "CreateAction",
        "name": f"{run}: {title}",
        "actionStatus": f"http://schema.org/{_STATES.get(state, 'ActiveActionStatus')}",
    }
    if status.started:
        action["startTime"] = _iso(status.started)
    if is_over(status) and status.driver.heartbeat is not None:
        action["endTime"] = _iso(status.driver.heartbeat)
    if error := " ".join(reasons(status)):
        action["error"] = printable(error)
    return action


def _given(place: Path) -> list[tuple[str, str]]:
    known = [
        ("recipe.toml", "The recipe as given"),
        ("run.json", "The recipe with every parameter filled in, the site and the versions"),
    ]
    shipped = sorted(path for path in (place / "files").rglob("*") if path.is_file())
    known += [(str(path.relative_to(place)), "Shipped with the recipe") for path in shipped]
    return [(name, text) for name, text in known if (place / name).is_file()]


def _came(run: RunView) -> list[tuple[str, str, bool]]:
    place = run.directory.path
    journal = [path.name for path in run.directory.journal_files]
    found = [
        *((name, "What happened, in order", True) for name in journal),
        ("products/index.jsonl", "The products, with the CRC-32 of each", True),
    ]
    for view in run.products.values():
        found += [
            (f"products/{it.name}", f"{view.name} at {it.time}{', stale' * it.stale}", False)
            for it in view.entries
        ]
        found += [
            (f"products/{piece['name']}", f"A piece of {view.name} at {it.time}", False)
            for it in view.entries for piece in it.pieces
        ]  # fmt: skip
        if view.series is not None:
            found.append((f"products/{view.series.name}", f"{view.name} as a time series", False))
    for folder, text in (("output", "Output of the model"), ("logs", "A log")):
        paths = sorted(path for path in (place / folder).rglob("*") if path.is_file())
        found += [(str(path.relative_to(place)), text, folder == "output") for path in paths]
    return [it for it in found if ".." not in Path(it[0]).parts and (place / it[0]).is_file()]


def _about(path: Path, name: str, *, hashed: bool) -> dict[str, Any]:
    size = path.stat().st_size
    kind = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "text/plain"
    about = {"name": name, "contentSize": str(size), "encodingFormat": kind}
    about["dateModified"] = _iso(path.stat().st_mtime)
    if hashed and size <= HASHED_BYTES:
        about["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    return about


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
