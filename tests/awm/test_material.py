"""Material from layers, from netCDF, and the effective media of the staggered grid."""

import netCDF4
import numpy as np
import pytest

from burstlens.core.errors import RecipeError
from burstlens.workflows.awm import basin, material
from burstlens.workflows.awm.parameters import Layer

Z, Y, X = np.arange(-700.0, 1.0, 70.0), np.arange(0.0, 900.0, 90.0), np.arange(0.0, 800.0, 110.0)
LAYERS = (
    Layer(top_m=0, vp_m_s=3000, vs_m_s=1500, rho_kg_m3=2000),
    Layer(top_m=350, vp_m_s=5000, vs_m_s=2800, rho_kg_m3=2600),
)


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
    rock = material.from_file(block(down=down, km=km), Z, Y, X)
    wanted = linear(Z[:, None, None], Y[:, None], X)
    for name in ("vp", "vs", "rho"):
        np.testing.assert_allclose(getattr(rock, name), wanted[name], rtol=2e-7)


def test_a_file_that_does_not_cover_the_grid_is_refused_with_both_extents(block):
    with pytest.raises(RecipeError, match=r"z covers -500 to 0 m, the grid needs -700 to 0 m"):
        material.from_file(block(reach=500.0), Z, Y, X)


def test_a_file_without_rho_is_refused_by_name(block):
    path = block()
    with netCDF4.Dataset(path, "a") as nc:
        nc.renameVariable("rho", "density")
    with pytest.raises(RecipeError, match="has no variable rho"):
        material.from_file(path, Z, Y, X)


def test_unknown_units_are_refused_with_the_known_ones(block):
    path = block()
    with netCDF4.Dataset(path, "a") as nc:
        nc["vs"].units = "furlong"
    with pytest.raises(RecipeError, match=r"vs has units 'furlong', known are m s-1"):
        material.from_file(path, Z, Y, X)


def test_a_missing_value_is_refused(block):
    path = block()
    with netCDF4.Dataset(path, "a") as nc:
        nc["vs"][:, 2, 2] = np.nan
    with pytest.raises(RecipeError, match="must be above 0"):
        material.from_file(path, Z, Y, X)


def test_a_node_on_an_interface_belongs_to_the_layer_below():
    rock = material.from_layers(LAYERS, Z, 3, 4)
    assert rock.vs.shape == (Z.size, 3, 4)
    np.testing.assert_array_equal(rock.vs[:, 1, 2], np.where(Z <= -350, 2800, 1500))


def test_effective_media_are_arithmetic_in_density_and_harmonic_in_shear():
    rock = material.from_layers(LAYERS, Z, 3, 4)
    m = material.medium(rock, ((2, 2), (2, 2), (2, 2)), 1.0, -1)
    upper = 2 + int(np.flatnonzero(Z > -350)[0])
    mu1, mu2 = 2000 * 1500.0**2, 2600 * 2800.0**2
    assert m.bz[upper, 3, 3] == pytest.approx(2 / (2000 + 2600), rel=1e-6)
    assert m.mxz[upper, 3, 3] == pytest.approx(2 / (1 / mu1 + 1 / mu2), rel=1e-6)
    assert m.mxy[upper, 3, 3] == pytest.approx(mu1, rel=1e-6)
    assert m.p[upper - 1, 3, 3] == pytest.approx(2600 * 5000.0**2, rel=1e-6)


def test_the_level_of_the_free_surface_has_the_moduli_of_plane_stress():
    rock = material.from_layers(LAYERS, Z, 3, 4)
    top = 2 + Z.size - 1
    m = material.medium(rock, ((2, 2), (2, 2), (2, 2)), 1.0, top)
    mu = 2000 * 1500.0**2
    lam = 2000 * 3000.0**2 - 2 * mu
    assert m.p[top, 3, 3] == pytest.approx(4 * mu * (lam + mu) / (lam + 2 * mu), rel=1e-5)
    assert m.l[top, 3, 3] == pytest.approx(2 * lam * mu / (lam + 2 * mu), rel=1e-5)


def test_the_arrays_of_a_run_start_at_different_places_of_their_pages():
    m = material.medium(material.from_layers(LAYERS, Z, 3, 4), ((2, 2),) * 3, 1.0, -1)
    starts = {f.ctypes.data % 4096 for f in (m.p, m.l, m.mxy, m.mxz, m.myz, m.bx, m.by, m.bz)}
    assert len(starts) == 8


def test_the_basin_is_slow_inside_and_rock_outside(tmp_path):
    path = tmp_path / "basin.nc"
    options = "--size-m 10000 8000 4000 --spacing-m 500 --centre-m 5000 4000"
    half = "--half-axes-m 3000 2000 1500"
    assert basin.main([str(path), *options.split(), *half.split()]) == 0
    x, y, z = np.array([500.0, 5000.0]), np.array([4000.0]), np.array([-3500.0, -1000.0, 0.0])
    rock = material.from_file(path, z, np.append(y, 4500.0), x)
    assert rock.vs[2, 0].tolist() == [2400.0, 900.0]
    assert 900.0 < rock.vs[1, 0, 1] < 1700.0
    assert rock.vs[0, 0].tolist() == [3000.0, 3000.0]
