"""The names of checkpoints' files, from ``[checkpoint]`` to the model's adapter."""

from __future__ import annotations

from pathlib import PurePosixPath

from burstlens.core.errors import RecipeError
from burstlens.core.toml.faults import Faults
from burstlens.workflows.models.base import Model
from burstlens.workflows.models.checkpoint_names import CheckpointNames
from burstlens.workflows.models.continuation import Proof
from burstlens.workflows.recipe.recipe import Checkpoint, Simulation, Witness

_PROVEN = {".nc", ".nc4", ".cdf", ".netcdf", ".h5", ".hdf", ".hdf5", ".he5"}
"""Endings of files whose bytes say whether they are whole."""
_OF_FILES = ("witness", "tiles", "step")
_READ_TOGETHER = {("simulation",), ("checkpoint",)}
_FOLLOWING = {("simulation", "segments"), ("simulation", "on_failure"), ("checkpoint",)}
"""Keys that cannot be judged for an adapter without the names."""


def with_checkpoints(
    model: Model, checkpoint: Checkpoint | None, simulation: Simulation, faults: Faults
) -> Model:
    """The model's adapter with the names that ``[checkpoint]`` gives; as it is, with a fault, where
    they do not fit."""
    if checkpoint is None or any(path[:1] in _READ_TOGETHER for path in faults.guessed):
        faults.guessed |= _FOLLOWING  # it is not known what the recipe means
        return model
    try:
        return model.with_checkpoints(_names(checkpoint, simulation))
    except RecipeError as error:
        key, _, text = str(error).partition(": ")
        faults.add(tuple(key.split(".")), text)
        faults.guessed |= _FOLLOWING
        return model


def _names(checkpoint: Checkpoint, simulation: Simulation) -> CheckpointNames | None:
    """The names, None where the recipe gives none. Raises RecipeError."""
    files = checkpoint.files
    files = (files,) if isinstance(files, str) else files
    if not files:
        for key in _OF_FILES:
            if getattr(checkpoint, key) is not None:
                raise RecipeError(f"checkpoint.{key}: goes with checkpoint.files")
        return None
    witness = checkpoint.witness
    flag, line = (witness.flag, witness.log) if isinstance(witness, Witness) else (None, None)
    return CheckpointNames(
        files,
        _proof(checkpoint, files),
        flag=flag or "",
        line=line or "",
        tiles=checkpoint.tiles or simulation.ranks,
        step_s=checkpoint.step,
        every_s=checkpoint.every,
    )


def _proof(checkpoint: Checkpoint, files: tuple[str, ...]) -> Proof:
    witness = checkpoint.witness
    if isinstance(witness, Witness):
        return Proof.FLAG if witness.flag is not None else Proof.LOG
    if witness is not None:
        return Proof.NAME if witness == "name" else Proof.FILE
    for file in files:
        if PurePosixPath(file).suffix.lower() not in _PROVEN:
            raise RecipeError(
                f"checkpoint.witness: is needed: {file!r} does not look like netCDF or HDF5, whose "
                'bytes prove that they are whole; "name" for files that are renamed when they '
                "are, { flag = ... } or { log = ... }"
            )
    return Proof.FILE
