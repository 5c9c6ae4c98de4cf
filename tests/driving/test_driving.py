from __future__ import annotations

import pytest
from events_case import event

from burstlens.clients.driving import drive
from burstlens.core.durable import write_json
from burstlens.core.errors import RunError
from burstlens.core.run.history import replay
from burstlens.workflows.driver.claim import require_host


@pytest.mark.parametrize("as_json", [False, True])
def test_a_driver_that_is_refused_does_not_say_that_the_run_goes_on(run_dir, capsys, as_json):
    with pytest.raises(RunError, match=r"run\.json"):
        drive(run_dir, as_json=as_json, note="storm-1 was stopped; it is resumed now, as requested")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("job_id", ["local:12:1", "slurm:7", "pbs:7.there", "hosted:7:attempt-1"])
def test_only_a_model_that_is_a_process_of_another_host_has_to_be_resumed_there(run_dir, job_id):
    attempt = run_dir.job("attempt-1")
    attempt.mkdir(parents=True)
    write_json(attempt / "started.json", {"host": "elsewhere"})
    submitted = {"event": "simulation.submitted", "job": "attempt-1", "attempt": 1, "t": 1.0}
    history = replay([event(submitted | {"job_id": job_id})])
    if job_id.startswith("local:"):
        with pytest.raises(RunError, match="runs on elsewhere; resume it there"):
            require_host(run_dir, history)
    else:
        require_host(run_dir, history)
