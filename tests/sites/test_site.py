"""What a site file may say, and what each fault of it is called."""

from __future__ import annotations

import shlex

import pytest

from burstlens.cluster_configs.inside import Inside
from burstlens.cluster_configs.parsl_config import StepLauncher, viewing_block
from burstlens.cluster_configs.site import SITES, read
from burstlens.cluster_configs.site_report import explain
from burstlens.cluster_configs.slurm import Slurm
from burstlens.core.errors import SiteError
from burstlens.workflows.plan.plan import assemble

SITE = """\
scheduler = "slurm"
[buffer]
kind = "{kind}"
{more}
[viewing]
placement = "{placement}"
"""


@pytest.fixture
def write(tmp_path):
    def site(kind="posix", placement="same-job", more=""):
        path = tmp_path / "ours.toml"
        path.write_text(SITE.format(kind=kind, placement=placement, more=more))
        return path

    return site


def test_a_disk_of_each_node_is_for_the_job_that_has_the_node(write):
    with pytest.raises(SiteError, match=r'node_local goes with .*placement "same-job"'):
        read(write(placement="separate", more='node_local = true\nfolders = ["/mnt/bb"]'))
    with pytest.raises(SiteError, match=r'node_local goes with buffer.kind "posix"'):
        read(write(kind="datawarp", more="node_local = true"))


def test_a_folder_of_the_jobs_own_has_to_be_named(write):
    with pytest.raises(SiteError, match=r"buffer\.folders must name"):
        read(write())
    assert read(write(more='folders = ["/scratch/$SLURM_JOB_ID"]')).buffer.node_local is False


def test_a_job_with_a_buffer_of_its_own_is_not_begun_again(write):
    path = write(more='folders = ["/scratch"]')
    path.write_text(f'{path.read_text()}[slurm]\noptions = ["--requeue"]\n')
    with pytest.raises(SiteError, match=r'slurm\.options "--requeue" does not go with viewing'):
        read(path)


LOCAL = """\
scheduler = "local"
[slurm]
queue = "compute"
"""


def test_a_scheduler_that_does_not_exist_is_refused_with_near_names_and_its_line(tmp_path):
    path = tmp_path / "ours.toml"
    path.write_text('description = "x"\nscheduler = "slrum"\n[viewing]\nplacement = "separate"\n')
    with pytest.raises(SiteError) as caught:
        read(path)
    (fault,) = caught.value.faults
    assert (fault.key, fault.place.line) == ("scheduler", 2)
    assert fault.message == 'there is no scheduler "slrum"; did you mean slurm?'


def test_a_fault_in_the_schedulers_table_has_the_tables_name_and_its_line(tmp_path):
    path = tmp_path / "ours.toml"
    path.write_text(
        'scheduler = "slurm"\n[viewing]\nplacement = "separate"\n[slurm]\nqeue = "compute"\n'
    )
    with pytest.raises(SiteError) as caught:
        read(path)
    (fault,) = caught.value.faults
    assert (fault.key, fault.place.line) == ("slurm.qeue", 5)
    assert "did you mean queue" in fault.message


def test_a_site_that_is_local_for_a_while_keeps_its_schedulers_table(tmp_path):
    path = tmp_path / "ours.toml"
    path.write_text(LOCAL)
    assert read(path).batch.queue == "compute"


def test_former_names_of_the_schedulers_keys_are_read_with_a_warning(tmp_path):
    path = tmp_path / "ours.toml"
    path.write_text(LOCAL.replace("queue", "partition") + 'constraint = "haswell"\n')
    with pytest.warns(DeprecationWarning, match="is now slurm") as warned:
        batch = read(path).batch
    assert (batch.queue, batch.node_features) == ("compute", "haswell")
    assert sorted(str(one.message) for one in warned) == [
        f"{path}: slurm.{old} is now slurm.{new}; the old key goes in 0.4"
        for old, new in (("constraint", "node_features"), ("partition", "queue"))
    ]
    with pytest.warns(DeprecationWarning, match=r"BatchSite\.partition is now BatchSite\.queue"):
        assert batch.partition == "compute"
    with pytest.raises(AttributeError, match="has no attribute 'partitions'"):
        batch.partitions  # noqa: B018


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_former_key_is_explained_as_what_it_is_now_with_its_line(tmp_path):
    path = tmp_path / "ours.toml"
    path.write_text(LOCAL.replace("queue", "partition"))
    (value,) = [one for one in explain(str(path))[1] if one.key == "slurm.queue"]
    assert (value.value, value.origin, value.line) == ('"compute"', "ours.toml, line 3", 3)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fault_in_a_former_key_has_the_name_in_the_file_and_its_line(tmp_path):
    path = tmp_path / "ours.toml"
    path.write_text("[slurm]\npartition = 3\n")
    with pytest.raises(SiteError) as caught:
        read(path)
    (fault,) = caught.value.faults
    assert (fault.key, fault.place.line) == ("slurm.partition", 2)


def test_a_key_that_stands_there_by_both_names_is_refused(tmp_path):
    path = tmp_path / "ours.toml"
    path.write_text(f"{LOCAL}partition = 'debug'\n")
    with pytest.raises(SiteError, match=r":4:1  slurm\.partition  unknown key"):
        read(path)


@pytest.mark.parametrize("table", ["batch", "pbs"])
def test_a_table_that_is_not_the_schedulers_is_refused(tmp_path, table):
    path = tmp_path / "ours.toml"
    path.write_text(f"{LOCAL}[{table}]\nqueue = 'compute'\n")
    with pytest.raises(SiteError, match=rf":4:1  {table}  unknown key"):
        read(path)


def test_frontier_stages_in_by_its_job_and_has_the_disks_of_each_node():
    site = read(SITES / "frontier.toml")
    assert site.job_stages_in
    assert site.buffer.folders == ("/mnt/bb/$USER",)
    assert site.batch.node_features == "nvme"


def test_the_viewing_block_is_a_step_on_the_node_where_the_first_rank_writes():
    job = Inside("12", "ROOT", "/mnt/bb/ada", cpus=56, node="frontier00123")
    words = StepLauncher(Slurm(), job, 8)("pool", 1, 1)
    assert "srun --jobid=12 --overlap --nodes=1 --ntasks=1 --nodelist=frontier00123 " in words
    assert words.startswith("export ROOT=/mnt/bb/ada\n")


def test_the_plan_says_where_inputs_go_and_when_the_disks_are_given_back(recipe):
    site = read(SITES / "frontier.toml")
    plan = assemble(recipe("simulation.nodes=2", "buffer.capacity=600 GiB"), site)
    what = {node.name: node.what for node in plan.nodes}
    assert what["buffer"] == "posix buffer in each node with room for 600 GiB"
    assert what["stage in"].endswith(", by the first job to each node")
    assert what["free"] == "the buffer ends with its job"


def test_a_look_enters_a_job_at_the_lowest_priority_on_all_of_its_cpus_there():
    job = Inside("12", cpus=56, node="nid00123", lowest=True)
    words = shlex.split(StepLauncher(Slurm(), job, 1)("pool -x", 1, 1))
    assert words[:-3] == [
        "srun", "--jobid=12", "--overlap", "--nodes=1", "--ntasks=1", "--nodelist=nid00123",
        "--cpus-per-task=56", "--export=ALL",
    ]  # fmt: skip
    assert words[-3:-1] == ["bash", "-c"]
    assert words[-1].startswith("renice -n 19 ")
    assert words[-1].endswith("\nexec pool -x")


def test_a_block_enters_the_job_of_a_scheduler_that_its_own_site_does_not_have(tmp_path):
    """A look's site is local, whatever machine it enters a job of."""
    job = Inside("12", cpus=2, lowest=True)
    block = viewing_block(read(SITES / "local.toml"), "viewing", tmp_path, job, Slurm())
    assert block.provider.launcher("pool", 1, 1).startswith("srun --jobid=12 --overlap ")


def test_a_short_program_enters_a_job_without_input_and_lines_of_the_launcher():
    words = Slurm().step_words(Inside("12", cpus=2), 2, quiet=True)
    assert words[-2:] == ["--input=none", "--quiet"]
    assert not [word for word in words if word.startswith("--nodelist")]


def test_look_enters_no_job_unless_the_site_says_so(write):
    assert not read(write("datawarp", "separate", 'lifetime = "persistent"')).look.enter_jobs
    more = 'lifetime = "persistent"\n[look]\nenter_jobs = true'
    assert read(write("datawarp", "separate", more)).look.enter_jobs


def test_a_worker_s_memory_is_the_site_s_unless_the_recipe_says_another(tmp_path):
    path = tmp_path / "ours.toml"
    path.write_text('[viewing]\nmemory = "2 GB"\n')
    site = read(path)
    assert site.viewing.memory == 2_000_000_000
    assert site.allowing(None) is site
    assert site.allowing(3_000_000_000).viewing.memory == 3_000_000_000


def test_a_memory_that_no_worker_can_begin_with_is_refused_with_its_line(tmp_path):
    path = tmp_path / "ours.toml"
    path.write_text('[viewing]\nmemory = "20 MB"\n')
    with pytest.raises(SiteError) as refused:
        read(path)
    text = str(refused.value)
    assert "viewing.memory" in text
    assert "19.1 MiB are less than a worker takes before it has read anything: 300 MB or more" in (
        text
    )
    assert [fault.place.line for fault in refused.value.faults] == [2]


@pytest.mark.parametrize(
    ("lifetime", "placement", "more", "why"),
    [
        ("persistent", "separate", 'access = "private"', 'needs a buffer that is "striped"'),
        ("persistent", "separate", 'options = ["mfs=1TiB"]', "buffer.options go with"),
        ("job", "same-job", 'access = "stripedly"', 'needs a buffer that is "striped"'),
    ],
)
def test_a_buffer_of_datawarp_that_a_run_cannot_use_is_refused(
    write, lifetime, placement, more, why
):
    with pytest.raises(SiteError, match=why):
        read(write("datawarp", placement, f'lifetime = "{lifetime}"\n{more}'))


def test_a_buffer_of_a_job_takes_further_words(write):
    more = 'lifetime = "job"\naccess = "striped(client_cache=yes)"\noptions = ["mfs=1TiB"]'
    assert read(write("datawarp", "same-job", more)).buffer.options == ("mfs=1TiB",)


def test_an_mpi_that_is_not_known_is_refused_with_those_that_are(tmp_path):
    path = tmp_path / "ours.toml"
    path.write_text('mpi = "mpich"\n')
    with pytest.raises(SiteError) as caught:
        read(path)
    (fault,) = caught.value.faults
    assert (fault.key, fault.place.line) == ("mpi", 1)
    assert "'cray-mpich', 'romio', 'openmpi' or 'none'" in fault.message
