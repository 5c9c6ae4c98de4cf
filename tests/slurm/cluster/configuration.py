"""The files that the daemons read: slurm.conf and its kin, and the DataWarp commands."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

NODES = ("dwn1", "dwn2", "dwn3")
CPUS = 2
GRANULE = 20 * 10**9
POOL = 500
"""Granules of the pool: 10 TB in all. Nothing of it is taken until written."""

SLURM_CONF = """\
ClusterName=testbed
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={root}/run/munge.sock
CredType=cred/munge
StateSaveLocation={root}/controller
SlurmdSpoolDir={root}/run/spool-%n
SlurmctldPidFile={root}/run/slurmctld.pid
SlurmdPidFile={root}/run/%n.pid
SlurmctldLogFile={root}/log/slurmctld.log
SlurmdLogFile={root}/log/%n.log
SlurmctldDebug=verbose
DebugFlags=BurstBuffer
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
MailProg=/bin/true
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,bf_resolution=1,sched_interval=1,sched_min_interval=100000,\
batch_sched_delay=0,defer
SlurmctldTimeout=30
SlurmdTimeout=60
InactiveLimit=0
KillWait=5
MinJobAge=300
BurstBufferType=burst_buffer/datawarp
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""
NODE = "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} \
RealMemory=1000 State=UNKNOWN\n"
BURST_BUFFER_CONF = """\
DefaultPool=wlm_pool
Flags=EnablePersistent,TeardownFailure
GetSysState={root}/bin/dw_wlm_cli
GetSysStatus={root}/bin/dwstat
StageInTimeout=3600
StageOutTimeout=3600
ValidateTimeout=5
OtherTimeout=60
"""
COMMAND = """\
#!/usr/bin/python3 -S
import sys

sys.path[0] = {lib!r}
from datawarp.commands import {name}

sys.exit({name}({store!r}, sys.argv[1:]))
"""


def write(root: Path, ports: list[int]) -> None:
    """Fill ``etc/``, ``bin/`` and ``lib/`` of a testbed."""
    host = socket.gethostname().partition(".")[0]
    conf = SLURM_CONF.format(root=root, host=host, port=ports[0])
    for name, port in zip(NODES, ports[1:], strict=True):
        conf += NODE.format(name=name, host=host, port=port, cpus=CPUS)
    etc = root / "etc"
    (etc / "slurm.conf").write_text(conf)
    (etc / "burst_buffer.conf").write_text(BURST_BUFFER_CONF.format(root=root))
    # No cgroups are used; naming a plugin keeps slurmd from looking for one.
    (etc / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    service = Path(__file__).parents[1] / "datawarp"
    lib = root / "lib"
    shutil.copytree(service, lib / "datawarp", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("dw_wlm_cli", "dwstat"):
        command = root / "bin" / name
        command.write_text(COMMAND.format(lib=str(lib), name=name, store=str(root / "datawarp")))
        command.chmod(0o755)
