"""The address at which the workers of a viewing block reach the driver."""

from __future__ import annotations

from dataclasses import replace

import pytest

from burstlens.cluster_configs.parsl_config import viewing_block
from burstlens.cluster_configs.site import SITES, read
from burstlens.core.errors import SiteError

LOCAL = read(SITES / "local.toml")


def address(said, folder):
    site = replace(LOCAL, viewing=replace(LOCAL.viewing, address=said))
    return viewing_block(site, "viewing", folder).address


@pytest.mark.parametrize("said", ["127.0.0.1", "lo"])
def test_an_interface_stands_for_its_address(said, tmp_path):
    assert address(said, tmp_path) == "127.0.0.1"


def test_the_host_name_stands_for_what_it_resolves_to(tmp_path, monkeypatch):
    monkeypatch.setattr("socket.gethostname", lambda: "localhost")
    assert address("hostname", tmp_path) == "127.0.0.1"


def test_the_error_for_an_unknown_interface_lists_the_known_ones(tmp_path):
    with pytest.raises(SiteError, match=r'"ib7" is not an address or an interface .*\blo\b'):
        address("ib7", tmp_path)
