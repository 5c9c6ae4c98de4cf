"""Schedulers by name: the built-in ones, those of installed packages, and what sites can ask."""

from __future__ import annotations

import pytest

from burstlens.cluster_configs.batch_script import batch_script
from burstlens.cluster_configs.scheduler import BatchJob, Scheduler
from burstlens.cluster_configs.schedulers import BUILT_IN, scheduler
from burstlens.cluster_configs.site import read
from burstlens.core.errors import SiteError

PLAIN = """\
from burstlens.cluster_configs.slurm import Slurm


class Plain(Slurm):
    name = "plain"
    title = "Plain"
    offers = frozenset()
"""
SITE = """\
scheduler = "{name}"
[buffer]
kind = "{kind}"
folders = ["/fast"]
[viewing]
placement = "{placement}"
[{name}]
account = "ab0123"
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Makes an installed package with one module and one entry point."""

    def install(code, point="plain = plain_scheduler:Plain"):
        about = tmp_path / "installed" / "plain_scheduler-1.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: plain_scheduler\nVersion: 1.0\n"
        )
        (about / "entry_points.txt").write_text(f"[burstlens.schedulers]\n{point}\n")
        (about.parent / "plain_scheduler.py").write_text(code)
        monkeypatch.syspath_prepend(str(about.parent))
        monkeypatch.delitem(__import__("sys").modules, "plain_scheduler", raising=False)
        scheduler.cache_clear()

    yield install
    scheduler.cache_clear()


@pytest.fixture
def write(tmp_path):
    def write(name="plain", kind="posix", placement="separate"):
        path = tmp_path / "ours.toml"
        path.write_text(SITE.format(name=name, kind=kind, placement=placement))
        return path

    return write


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_scheduler_has_all_that_is_asked_of_one(name):
    found = scheduler(name)()
    assert isinstance(found, Scheduler)
    assert found.name == name


def test_an_unknown_scheduler_is_refused_with_near_names(install):
    install(PLAIN)
    with pytest.raises(SiteError, match=r'^there is no scheduler "plan"; did you mean plain\?$'):
        scheduler("plan")


def test_a_site_names_an_installed_scheduler_whose_table_has_its_name(install, write, tmp_path):
    install(PLAIN)
    site = read(write())
    made = scheduler(site.scheduler)(site.batch)
    job = BatchJob(name="n", comment="c", argv=("true",), output=tmp_path / "log")
    assert "#SBATCH --account=ab0123\n" in batch_script(job, made)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"kind": "datawarp"}, r'buffer\.kind "datawarp" cannot be had from Plain'),
        ({"placement": "same-job"}, r'viewing\.placement "same-job" cannot be had from Plain'),
    ],
)
def test_what_a_scheduler_does_not_offer_is_refused_with_the_site(install, write, how, said):
    install(PLAIN)
    with pytest.raises(SiteError, match=said):
        read(write(**how))


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise RuntimeError('no licence')", "cannot be loaded: no licence"),
        ("class Plain:\n    name = 'plain'\n", "is not a scheduler with the name 'plain'"),
        (PLAIN.replace('"plain"', '"other"'), "is not a scheduler with the name 'plain'"),
    ],
)
def test_a_plugin_that_cannot_be_used_is_named_with_the_site_that_names_it(
    install, write, code, said
):
    install(code)
    with pytest.raises(SiteError, match=said):
        read(write())
    assert read(write("slurm")).batch.account == "ab0123"
