"""Differences of temperatures, by what files say of them."""

from __future__ import annotations

import pytest

from burstlens.core.units import is_difference


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("SST", {"standard_name": "sea_surface_temperature", "long_name": "PMIP2 Average Anomaly"}),
        ("tas", {"units_metadata": "temperature: difference"}),
        ("ta", {"standard_name": "air_temperature_anomaly"}),
        ("tnt", {"standard_name": "tendency_of_air_temperature"}),
        ("tas", {"cell_methods": "time: mean area: standard_deviation"}),
        ("dtr", {"cell_methods": "time: range"}),
        ("dtr", {"long_name": "Diurnal temperature range"}),
        ("analysis_error", {"long_name": "estimated error standard deviation of analysed_sst"}),
        ("dt_analysis", {"long_name": "deviation from last SST analysis"}),
        ("t_incr", {}), ("tas_anom", {}), ("sst_std", {}), ("tempanomaly", {}),
        ("sst", {"standard_name": "sea_surface_temperature standard_error"}),
    ],
)  # fmt: skip
def test_differences_are_known_by_metadata_standard_name_method_or_word(name, attributes):
    assert is_difference(name, attributes)


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("tas", {"standard_name": "air_temperature", "cell_methods": "time: mean"}),
        ("tasmax", {"long_name": "Daily maximum temperature", "cell_methods": "time: maximum"}),
        ("tasAdjust", {"long_name": "Bias-Adjusted Near-Surface Air Temperature"}),
        ("t2m", {"long_name": "2 metre temperature", "units": "K"}),
        ("T", {"long_name": "Monthly Anomaly", "units_metadata": "temperature: on_scale"}),
        ("standard_t", {}), ("TSK", {"description": "SURFACE SKIN TEMPERATURE"}),
        ("tb", {"standard_name": "toa_brightness_temperature"}),
    ],
)  # fmt: skip
def test_temperatures_are_none(name, attributes):
    assert not is_difference(name, attributes)
