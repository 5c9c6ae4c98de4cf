"""Meshes: their points and tables, by the names that models give them."""

from __future__ import annotations

import pytest

from burstlens.viz.geometry.mesh import is_of_mesh, is_table, why_not_drawn


@pytest.mark.parametrize(
    ("name", "dimensions"),
    [
        ("face_node_connectivity", ("n_face", "n_max_face_nodes")),  # uxarray
        ("Mesh2_edge_nodes", ("nMesh2_edge", "Two")),  # UGRID
        ("verticesOnCell", ("nCells", "maxEdges")),
        ("kiteAreasOnVertex", ("nVertices", "vertexDegree")),
        ("vertex_of_cell", ("nv", "cell")), ("clon_vertices", ("cell", "nv")),  # ICON
        ("grid_corner_lat", ("grid_size", "grid_corners")), ("xv_a", ("n_a", "nv_a")),  # SCRIP
        ("element", ("nele", "nvertex")), ("ikle", ("nelem", "ndp")),  # ADCIRC, TELEMAC
        ("nv", ("three", "nele")), ("art", ("three", "nele")),  # FVCOM
        ("SCHISM_hgrid_face_nodes", ("nSCHISM_hgrid_face", "nMaxSCHISM_hgrid_face_nodes")),
        ("elementConn", ("elementCount", "maxNodePElement")),  # ESMF
        ("connect1", ("num_el_in_blk1", "num_nod_per_el1")),  # Exodus
        ("lat_bnds", ("lat", "bnds")), ("time_bounds", ("nb2",)),
        ("lat_vertices", ("j", "i", "vertices")),
    ],
)  # fmt: skip
def test_tables_and_corners_are_no_fields(name: str, dimensions: tuple[str, ...]):
    assert is_table(name, {}, dimensions)


def test_attributes_of_ugrid_make_a_table_of_any_name():
    assert is_table("a", {"cf_role": "face_node_connectivity"}, ("p", "q"))
    assert is_table("a", {"start_index": 1}, ("p", "q"))


@pytest.mark.parametrize(
    ("name", "dimensions"),
    [
        ("tas", ("lat", "lon")), ("rgb", ("three", "y", "x")), ("flowrate", ("y", "x")),
        ("edge_of_ice", ("lat", "lon")), ("cell_index", ("y", "x")),
        ("neighbor_of", ("lat", "lon")), ("lower_bounds", ("time", "rlat", "rlon")),
        ("cloud_corners", ("nj", "ni")), ("connectivity", ("latitude", "longitude")),
        ("T_vertices", ("south_north", "west_east_stag")), ("cell_of", ("eta_rho", "xi_rho")),
        ("wet_edges_of_cell", ("Y", "X")), ("u_corner", ("yq", "xt_ocean")),
        ("cell_area", ("y", "x")),
        ("P_PL", ("num_press_levels_stag", "south_north", "west_east")),
        ("band", ("band", "y", "x")),
    ],
)  # fmt: skip
def test_fields_of_grids_are_no_tables(name: str, dimensions: tuple[str, ...]):
    assert not is_table(name, {}, dimensions)
    assert not is_of_mesh(dimensions)


@pytest.mark.parametrize(
    "dimension",
    ["n_face", "nCells", "ncol", "nod2", "node", "nele", "npoin", "nMesh2_face", "cell", "ncells",
     "nSCHISM_hgrid_node", "nFlowElem", "grid_size", "elementCount", "n_node", "values"],
)  # fmt: skip
def test_points_of_a_mesh_are_known(dimension: str):
    assert is_of_mesh(("lev", dimension))


def test_why_a_field_of_a_mesh_is_not_drawn_says_what_can():
    why = why_not_drawn("t2m", {}, ("n_face",), ("n_face",))
    assert "unstructured mesh (n_face)" in why
    assert "python or command" in why
    on_mesh = {"mesh": "m", "location": "face"}
    assert "unstructured" in why_not_drawn("h", on_mesh, ("t", "f"), ("t",))
    assert why_not_drawn("t", {}, ("node", "y", "x"), ("x", "y")) == ""
    assert "not a field" in why_not_drawn("nv", {}, ("three", "nele"), ("nele", "three"))
