from __future__ import annotations

import pytest

from burstlens.clients.driving import drive
from burstlens.core.errors import RunError


@pytest.mark.parametrize("as_json", [False, True])
def test_a_driver_that_is_refused_does_not_say_that_the_run_goes_on(run_dir, capsys, as_json):
    with pytest.raises(RunError, match=r"run\.json"):
        drive(run_dir, as_json=as_json, note="storm-1 was stopped; it goes on now, as asked")
    assert capsys.readouterr() == ("", "")
