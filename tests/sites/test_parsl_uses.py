"""One module alone uses what Parsl does not document: Parsl may change that in any release."""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from pathlib import Path

import pytest
from parsl.dataflow.dflow import DataFlowKernel
from parsl.executors import HighThroughputExecutor
from parsl.providers import LocalProvider, SlurmProvider

ROOT = Path(__file__).parents[2]
FOLDERS = ("src/burstlens", "workflows", "viz", "stagers", "cluster_configs")
INTERNALS = ROOT / "cluster_configs" / "parsl_internals.py"

PUBLIC = {
    "parsl",
    "parsl.addresses.address_by_hostname",
    "parsl.addresses.address_by_interface",
    "parsl.config.Config",
    "parsl.data_provider.files.File",
    "parsl.data_provider.staging.Staging",
    "parsl.executors.HighThroughputExecutor",
    "parsl.executors.ThreadPoolExecutor",
    "parsl.executors.high_throughput.errors.WorkerLost",
    "parsl.jobs.states.JobState",
    "parsl.jobs.states.JobStatus",
    "parsl.launchers.SimpleLauncher",
    "parsl.launchers.SrunLauncher",
    "parsl.launchers.base.Launcher",
    "parsl.providers.LocalProvider",
    "parsl.providers.SlurmProvider",
    "parsl.providers.base.ExecutionProvider",
}
"""What Burstlens imports and Parsl's "API Reference guide" lists."""
DOCUMENTED = {"address", "cancel", "label", "provider", "status", "submit", "worker_init"}
"""Members of Parsl's executors and providers whose use Parsl describes."""
OWN = {"account", "config", "constraint", "partition", "qos", "shutdown", "start", "walltime"}
"""Names that Parsl has, too, and that are fields of a site, or mean something else, in ours."""


@cache
def sources() -> dict[Path, ast.Module]:
    """The modules of Burstlens whose text names Parsl, but for the one."""
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    texts = {path: path.read_text() for path in files if path.name != INTERNALS.name}
    return {path: ast.parse(text) for path, text in texts.items() if "parsl" in text}


def imported(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def named(tree: ast.Module) -> set[str]:
    """The attributes that a module uses, and the names that its classes define."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            assigned = [part for part in node.body if isinstance(part, ast.Assign)]
            found |= {target.id for part in assigned for target in part.targets}
    return found


@cache
def members() -> set[str]:
    """What objects of Parsl have: methods, properties, and what their classes assign."""
    found = set()
    for kind in (DataFlowKernel, HighThroughputExecutor, LocalProvider, SlurmProvider):
        for base in kind.__mro__:
            if base.__module__.startswith("parsl."):
                found |= set(vars(base))
                found |= set(re.findall(r"self\.(\w+)[^=\n(]*=[^=]", inspect.getsource(base)))
    return {name for name in found if not name.startswith("__")}


def test_the_other_modules_import_of_parsl_what_it_documents():
    for path, tree in sources().items():
        own = {name for name in imported(tree) if name.split(".")[0] == "parsl"}
        assert own <= PUBLIC, f"{path}: move to {INTERNALS.name}: {sorted(own - PUBLIC)}"


def test_the_other_modules_name_no_module_of_parsl_in_a_string():
    for path, tree in sources().items():
        texts = {str(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        modules = {text for text in texts if re.fullmatch(r"parsl(\.\w+)+", text)}
        assert not modules, f"{path}: move to {INTERNALS.name}: {sorted(modules)}"


def test_the_other_modules_use_members_of_parsls_objects_that_it_documents():
    users = {path: tree for path, tree in sources().items() if "parsl" in str(imported(tree))}
    assert {"graph.py", "parsl_config.py"} <= {path.name for path in users}
    for path, tree in users.items():
        used = (named(tree) & members()) - DOCUMENTED - OWN
        assert not used, f"{path}: move to {INTERNALS.name}, or list as documented: {sorted(used)}"


@pytest.mark.parametrize("name", ["outgoing_q", "job_ids_to_block", "scale_out_facade", "_status"])
def test_the_members_that_the_module_uses_are_known_as_parsls(name):
    """Else the test above could not see them in another module."""
    assert name in named(ast.parse(INTERNALS.read_text())) & members()
