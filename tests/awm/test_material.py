"""Material from layers, from netCDF, and the effective media of the staggered grid."""

import netCDF4
import numpy as np
import pytest

from burstlens.core.errors import RecipeError
from burstlens.workflows.awm import basin, material, rock
from burstlens.workflows.awm.parameters import Layer

Z, Y, X = np.arange(-700.0, 1.0, 70.0), np.arange(0.0, 900.0, 90.0), np.arange(0.0, 800.0, 110.0)
LAYERS = (
    Layer(top_m=0, vp_m_s=3000, vs_m_s=1500, rho_kg_m3=2000),
    Layer(top_m=350, vp_m_s=5000, vs_m_s=2800, rho_kg_m3=2600),
)


def stacked(levels):
    """vp, vs and rho (z, y, x) of all levels."""
    found = list(levels)
    return {name: np.stack([getattr(one, name) for one in found]) for name in ("vp", "vs", "rho")}


def medium(surface=-1, factor=1.0):
    """The medium of LAYERS on a grid padded by two elements."""
    levels = rock.from_layers(LAYERS, Z, 3, 4)
    return material.medium(levels, ((2, 2),) * 3, factor, surface, (Z.size + 4, 7, 8))


def linear(z, y, x):
    """vp, vs and rho that grow linearly in all directions."""
    return {
        "vp": 4000 - 2.0 * z + 0.3 * y + 0.1 * x,
        "vs": 2000 - 1.0 * z + 0.2 * y + 0.05 * x,
        "rho": 2200 - 0.5 * z + 0.1 * y + 0.02 * x,
    }


@pytest.fixture
def block(tmp_path):
    """Writes a material file of linear fields; km and a depth axis where asked."""

    def write(*, down=False, km=False, reach=1000.0):
        path = tmp_path / "rock.nc"
        z = np.linspace(-reach, 0.0, 9)
        y, x = np.linspace(0.0, reach, 7), np.linspace(0.0, reach, 5)
        fields = linear(z[:, None, None], y[:, None], x)
        scale = 1000.0 if km else 1.0
        with netCDF4.Dataset(path, "w") as nc:
            for name, axis in (("z", -z if down else z), ("y", y), ("x", x)):
                nc.createDimension(name, axis.size)
                variable = nc.createVariable(name, "f8", (name,))
                variable.units = "km" if km else "m"
                variable[:] = axis / scale
            if down:
                nc["z"].positive = "down"
            for name, values in fields.items():
                variable = nc.createVariable(name, "f8", ("z", "y", "x"))
                variable.units = {"rho": "g cm-3" if km else "kg m-3"}.get(
                    name, "km s-1" if km else "m s-1"
                )
                variable[:] = values / scale
        return path

    return write


@pytest.mark.parametrize(("down", "km"), [(False, False), (True, False), (False, True)])
def test_trilinear_samples_of_linear_fields_are_exact(block, down, km):
    sampled = stacked(rock.from_file(block(down=down, km=km), Z, Y, X))
    wanted = linear(Z[:, None, None], Y[:, None], X)
    for name in ("vp", "vs", "rho"):
        np.testing.assert_allclose(sampled[name], wanted[name], rtol=2e-7)


def test_a_file_that_does_not_cover_the_grid_is_refused_with_both_extents(block):
    with pytest.raises(RecipeError, match=r"z covers -500 to 0 m, the grid needs -700 to 0 m"):
        stacked(rock.from_file(block(reach=500.0), Z, Y, X))


def test_a_file_without_rho_is_refused_by_name(block):
    path = block()
    with netCDF4.Dataset(path, "a") as nc:
        nc.renameVariable("rho", "density")
    with pytest.raises(RecipeError, match="has no variable rho"):
        stacked(rock.from_file(path, Z, Y, X))


def test_unknown_units_are_refused_with_the_known_ones(block):
    path = block()
    with netCDF4.Dataset(path, "a") as nc:
        nc["vs"].units = "furlong"
    with pytest.raises(RecipeError, match=r"vs has units 'furlong', known are m s-1"):
        stacked(rock.from_file(path, Z, Y, X))


def test_a_missing_value_is_refused(block):
    path = block()
    with netCDF4.Dataset(path, "a") as nc:
        nc["vs"][:, 2, 2] = np.nan
    with pytest.raises(RecipeError, match=r"at x \d+ m, y \d+ m, depth \d+ m vs is missing"):
        stacked(rock.from_file(path, Z, Y, X))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("vs", 0.0, "vs is 0 m/s and must be above 0: awm computes solids, no fluid"),
        ("rho", -1000.0, "rho is -"),
        ("vp", np.inf, "vp is inf m/s"),
        ("vp", 500.0, r"vp .* times vs .* lambda is negative below sqrt\(2\) times"),
    ],
)
def test_what_no_rock_has_is_refused_with_place_and_number(block, name, value, words):
    path = block()
    with netCDF4.Dataset(path, "a") as nc:
        nc[name][:, 2:4, 2:4] = value
    with pytest.raises(RecipeError, match=r"rock.nc: at x \d+ m, y \d+ m, depth \d+ m " + words):
        stacked(rock.from_file(path, Z, Y, X))


def test_a_node_on_an_interface_belongs_to_the_layer_below():
    vs = stacked(rock.from_layers(LAYERS, Z, 3, 4))["vs"]
    assert vs.shape == (Z.size, 3, 4)
    np.testing.assert_array_equal(vs[:, 1, 2], np.where(Z <= -350, 2800, 1500))


def test_means_are_arithmetic_in_density_and_harmonic_in_shear():
    m = medium(factor=0.5)
    upper = 2 + int(np.flatnonzero(Z > -350)[0])
    mu1, mu2 = 2000 * 1500.0**2, 2600 * 2800.0**2
    density, compliance = m.density[:, 3, 3], m.compliance[:, 3, 3]
    mean = (2000 + 2600) / 2
    assert density[upper] + density[upper - 1] == pytest.approx(mean / 0.5, rel=1e-6)
    harmonic = 2 / (1 / mu1 + 1 / mu2)
    assert 2 * (compliance[upper] + compliance[upper - 1]) == pytest.approx(
        1 / (0.5 * harmonic), rel=1e-6
    )
    assert m.lam[upper - 1, 3, 3] == pytest.approx(0.5 * (2600 * 5000.0**2 - 2 * mu2), rel=1e-5)


def test_the_level_of_the_free_surface_has_lambda_of_plane_stress():
    top = 2 + Z.size - 1
    m = medium(surface=top)
    mu = 2000 * 1500.0**2
    lam = 2000 * 3000.0**2 - 2 * mu
    assert m.lam[top, 3, 3] == pytest.approx(2 * lam * mu / (lam + 2 * mu), rel=1e-5)
    assert m.ratio[3, 3] == pytest.approx(lam / (lam + 2 * mu), rel=1e-5)


def test_speeds_are_the_extremes_of_the_grid_and_the_contrast_that_of_its_edges():
    inside = np.full((5, 6), 3000, np.float32)
    inside[2:4, 2:4] = 600
    levels = [
        rock.Level(np.float32(2) * vs, vs, np.full((5, 6), 2000, np.float32))
        for vs in (inside, np.full((5, 6), 2000, np.float32))
    ]
    speeds = material.medium(levels, ((2, 2),) * 3, 1.0, -1, (6, 9, 10)).speeds
    assert (speeds.vs_min, speeds.vs_max, speeds.vp_max) == (600, 3000, 6000)
    assert speeds.contrast == pytest.approx(1.5)


def test_the_values_of_the_edges_are_continued_outside_the_grid():
    m = medium()
    for field in (m.density, m.compliance, m.lam):
        assert (field[:2] == field[2]).all()
        assert (field[-2:] == field[-3]).all()
        assert (field[:, :, 0] == field[:, :, 2]).all()


def test_the_arrays_of_a_run_start_at_different_places_of_their_pages():
    m = medium()
    assert len({f.ctypes.data % 4096 for f in (m.density, m.compliance, m.lam)}) == 3


def test_the_basin_is_slow_inside_and_rock_outside(tmp_path):
    path = tmp_path / "basin.nc"
    options = "--size-m 10000 8000 4000 --spacing-m 500 --centre-m 5000 4000"
    half = "--half-axes-m 3000 2000 1500"
    assert basin.main([str(path), *options.split(), *half.split()]) == 0
    x, y, z = np.array([500.0, 5000.0]), np.array([4000.0]), np.array([-3500.0, -1000.0, 0.0])
    vs = stacked(rock.from_file(path, z, np.append(y, 4500.0), x))["vs"]
    assert vs[2, 0].tolist() == [2400.0, 900.0]
    assert 900.0 < vs[1, 0, 1] < 1700.0
    assert vs[0, 0].tolist() == [3000.0, 3000.0]
