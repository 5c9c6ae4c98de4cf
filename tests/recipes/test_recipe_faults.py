"""Every fault of a recipe is reported at once, with the file, line and column where it stands."""

from __future__ import annotations

import time

import pytest
from recipe_texts import RIGHT

from burstlens.core.errors import RecipeError
from burstlens.workflows.recipe.file import BUILT_IN, known, read
from burstlens.workflows.recipe.load import load

pytestmark = pytest.mark.integration

FAULTS = {
    'title = "Storm"': [
        ("title = Storm", "title"),
        ('titel = "Storm"', "titel"),
        ("title = 3", "title"),
        ('title = "Storm', "title"),
    ],
    'nodes = { type = "int", default = 2 }': [
        ('nodes = { type = "integer", default = 2 }', "parameters.nodes.type"),
        ('nodes = { type = "int", default = "two" }', "parameters.nodes"),
        ('nodes = { type = "int" }', "parameters.nodes"),
        ('nodes = { type = "int", defualt = 2, default = 2 }', "parameters.nodes.defualt"),
    ],
    'model = "command"': [('model = "comand"', "simulation.model")],
    'command = ["./model.sh"]': [
        ("command = []", "simulation.command"),
        ("command = 3", "simulation.command"),
    ],
    'frames = "out_*.nc"': [
        ('frames = "/out_*.nc"', "simulation.frames"),
        ('fraems = "out_*.nc"', "simulation.fraems"),
        ('frames = "out_{ndoes}_*.nc"', "simulation.frames"),
    ],
    'nodes = "{nodes}"': [
        ('nodes = "{nods}"', "simulation.nodes"),
        ("nodes = 0", "simulation.nodes"),
        ("nodes = 3x", "simulation.nodes"),
    ],
    'capacity = "1 GiB"': [('capacity = "1 GB/s"', "buffer.capacity")],
    'keep = ["*.nc"]': [
        ('keep = ["/etc/*"]', "stage_out.keep.0"),
        ('keep = ["*.nc" "*.log"]', "stage_out.keep"),
    ],
    'before = "simulation"': [
        ('befor = "simulation"', "step.prepare.befor"),
        ('before = "model"', "step.prepare.before"),
    ],
    'variable = "slp"': [('varaible = "slp"', "product.storm.varaible")],
    'kind = "map"': [('kind = "mapp"', "product.t2.kind"), ("kind = map", "product.t2.kind")],
    'variable = "sqrt(T2)"': [
        ('variable = "sqr(T2)"', "product.t2.variable"),
        ('variable = " "', "product.t2.variable"),
    ],
    'colormap = "viridis"': [
        ('colormap = "virdis"', "product.t2.colormap"),
        ("limits = [3, 1]", "product.t2.limits"),
        ("width_px = 3", "product.t2.width_px"),
    ],
    'crop = { follow = "track:storm", half_width = 3 }': [
        ('crop = { follow = "track:strom", half_width = 3 }', "product.t2.crop.follow"),
        ("crop = { stride = 0 }", "product.t2.crop.stride"),
        ("crop = { strid = 2 }", "product.t2.crop.strid"),
    ],
    'contours = [{ variable = "P", colour = "red" }, { variable = "Q", interval = 2 }]': [
        ('contours = [{ variable = "P", colour = "rde" }]', "product.t2.contours.0.colour"),
        ('contours = { variable = "P", intervall = 2 }', "product.t2.contours.intervall"),
        ('contours = { variable = "P", interval = 0 }', "product.t2.contours.interval"),
    ],
    'variable = "W"\nstart': [
        ('variable = "W@5"\nstart', "product.cut.variable"),
        ('variable = "sqr(W)"\nstart', "product.cut.variable"),
    ],
    'command = ["sh", "{frame}", "{out}"]': [
        ('command = ["sh", "{fram}", "{out}"]', "product.mine.command"),
        ('command = ["sh", "{frame}"]', "product.mine.command"),
    ],
    "min = -80": [("min = 90", "guard.0.min"), ('min = "low"', "guard.0.min")],
    'expression = "max(W) > 80"': [
        ('expression = "mx(W) > 80"', "guard.1.expression"),
        ('expression = "max(W)"', "guard.1.expression"),
        ('expresion = "max(W) > 80"', "guard.1.expresion"),
    ],
}
CASES = [(right, *case) for right, cases in FAULTS.items() for case in cases]


def faults_of(path, *settings):
    with pytest.raises(RecipeError) as raised:
        load(str(path), settings)
    assert raised.value.faults
    return raised.value.faults


def test_a_right_recipe_has_no_fault(recipe):
    assert recipe(text=RIGHT).simulation.nodes == 2


@pytest.mark.parametrize(("right", "wrong", "key"), CASES, ids=[case[1] for case in CASES])
def test_a_fault_is_reported_where_it_stands(recipe_file, right, wrong, key):
    text = RIGHT.replace(right, wrong, 1)
    path = recipe_file(text)
    found = {fault.key: fault for fault in faults_of(path)}
    assert key in found
    line = text[: text.index(wrong)].count("\n") + 1
    assert (found[key].place.file, found[key].place.line) == (path, line)
    assert found[key].message.count("did you mean") <= 1


def test_faults_in_all_tables_are_reported_together(recipe_file):
    text, planted = RIGHT, []
    for right, [(wrong, key), *_] in FAULTS.items():
        text = text.replace(right, wrong, 1)
        planted.append((wrong, key))
    expected = {(text[: text.index(wrong)].count("\n") + 1, key) for wrong, key in planted}
    found = {(fault.place.line, fault.key) for fault in faults_of(recipe_file(text))}
    # Whatever else is reported follows from a key that is missing where it is misspelt.
    assert {(line, key) for line, key in expected - found if "crop" not in key} == set()


@pytest.mark.parametrize("number", range(4))
def test_several_faults_of_one_table_are_reported_together(recipe_file, number):
    product = [
        'colormap = "virdis"',
        "limits = [3, 1]",
        "width_px = 3",
        "every = 0",
        "crop = { stride = 0, half_width = 3 }",
        'contours = { variable = "P", colour = "rde", level = "x" }',
        "colour = 3",
        "dpi = 1",
    ]
    rotated = product[number:] + product[:number]
    text = RIGHT.replace('colormap = "viridis"', "\n".join(rotated), 1)
    text = text.replace('crop = { follow = "track:storm", half_width = 3 }\n', "")
    text = text.replace('contours = [{ variable = "P", colour = "red" }, {', "cities = [{")
    lines = text.splitlines()
    found = {(fault.place.line, fault.key.split(".")[2]) for fault in faults_of(recipe_file(text))}
    for line in product:
        assert (lines.index(line) + 1, line.split(" ")[0]) in found


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("out.nc = { cb_nodes = 2 }", 'a name with a dot needs quotes: "out.nc"'),
        ('"out*" = { cb_nodes = [2] }', "expected text, a whole number or true or false"),
        ('"out*" = { cb_nodes = 2026-11-26 }', "or true or false, got "),
    ],
)
def test_a_value_that_fits_none_of_several_kinds_is_one_fault(recipe_file, value, said):
    [fault] = faults_of(recipe_file(f"{RIGHT}[simulation.mpiio_hints]\n{value}\n"))
    assert said in fault.message


def test_a_key_that_is_missing_is_reported_at_its_table(recipe_file):
    text = RIGHT.replace('kind = "map"\n', "").replace('inputs = "inputs"\n', "")
    found = [(fault.key, fault.place.line) for fault in faults_of(recipe_file(text))]
    assert found == [("simulation.inputs", 4), ("product.t2.kind", 21)]


def test_the_second_entry_of_a_name_is_the_one_at_fault(recipe_file):
    text = RIGHT + '[[product]]\nname = "t2"\nkind = "map"\nvariable = "T2"\nlimits = [3, 1]\n'
    found = [(fault.key, fault.place.line) for fault in faults_of(recipe_file(text))]
    assert found == [("product.t2.name", 46), ("product.t2.limits", 49)]


def test_a_fault_of_a_recipe_that_is_extended_names_its_file_and_line(recipe_file):
    base = recipe_file(
        RIGHT.replace("min = -80", "min = 90").replace("[3, 1]", "[1, 3]"), "base.toml"
    )
    text = (
        'extends = "base.toml"\n[[product]]\nname = "t2"\nlimits = [3, 1]\n'
        '[[product]]\nname = "new"\nkind = "mapp"\n'
    )
    mine = recipe_file(text)
    found = [(fault.key, fault.place.file, fault.place.line) for fault in faults_of(mine)]
    assert found == [
        ("product.t2.limits", mine, 4),
        ("product.new.kind", mine, 7),
        ("guard.0.min", base, 41),
    ]


def test_what_a_base_that_cannot_be_read_would_give_is_not_missed(recipe_file):
    recipe_file("[simulation\nmodel = 3x\ninputs 'in'\n", "base.toml")
    text = 'extends = "base.toml"\n[[product]]\nname = "a"\nkind = "mapp"\n'
    found = [(fault.key, fault.place.line) for fault in faults_of(recipe_file(text))]
    assert found == [("product.a.kind", 4), ("simulation", 1), ("simulation.model", 2), ("", 3)]
    found = faults_of(recipe_file('extends = "nowhere"\n[simulation]\nnodes = 0\n'))
    assert [fault.key for fault in found] == ["extends", "simulation.nodes"]


def test_a_value_that_was_given_names_its_setting(recipe_file):
    path = recipe_file(RIGHT)
    settings = ["simulation.walltime=soon", "product.t2.width_px=3", "nodes=0", "nods=3"]
    places = {fault.key: fault.place for fault in faults_of(path, *settings)}
    assert places["simulation.walltime"].text() == "--set simulation.walltime=soon"
    assert places["product.t2.width_px"].setting == "--set product.t2.width_px=3"
    assert (places["simulation.nodes"].line, places["simulation.nodes"].setting) == (
        9,
        "--set nodes=0",
    )
    assert places["nods"].setting == "--set nods=3"


def test_a_parameter_without_a_valid_value_is_one_fault(recipe_file):
    text = RIGHT.replace("default = 2", 'help = "how many"')
    assert [fault.key for fault in faults_of(recipe_file(text))] == ["parameters.nodes"]
    assert [fault.key for fault in faults_of(recipe_file(RIGHT), "nodes=many")] == [
        "parameters.nodes"
    ]


@pytest.mark.parametrize("name", [n for n, p in known().items() if p.is_relative_to(BUILT_IN)])
def test_recipes_that_ship_have_no_fault_but_parameters_to_give(name):
    parameters = read(name).table.get("parameters", {})
    load(name, [f"{key}=x" for key, entry in parameters.items() if "default" not in entry])


def test_the_former_name_of_command_is_taken_with_a_warning(recipe_file, burstlens):
    recipe_file(RIGHT.replace('command = ["./model.sh"]', 'argv = ["./model.sh"]'), "old.toml")
    mine = recipe_file('extends = "old.toml"\n')
    loaded, table = load(str(mine), ["simulation.argv=['./model.sh', '-v']"])
    assert loaded.model.command() == ["./model.sh", "-v"]
    assert "argv" not in table["simulation"]
    assert ["old.toml:6" in note and "simulation.command" in note for note in loaded.notes] == [
        True
    ]
    for words in (["check"], ["run", "--dry-run"]):
        done = burstlens(*words, "any.toml")
        assert "warning" in done.stdout
        assert "simulation.argv is now simulation.command" in done.stdout
    wrong = recipe_file(RIGHT.replace('command = ["./model.sh"]', "argv = []"))
    [fault] = faults_of(wrong)
    assert (fault.key, fault.place.line) == ("simulation.command", 6)


def test_limits_of_the_first_frames_have_no_effect_and_a_warning(recipe_file, burstlens):
    product = '\n[[product]]\nname = "old"\nkind = "map"\nvariable = "T2"\nlimits = { first = 3 }\n'
    old = recipe_file(RIGHT + product, "old.toml")
    loaded, table = load(str(old))
    assert "limits" not in next(entry for entry in table["product"] if entry["name"] == "old")
    line = 1 + old.read_text().splitlines().index("limits = { first = 3 }")
    assert [f"old.toml:{line}: product.old.limits" in note for note in loaded.notes] == [True]
    assert "limits widen with the run" in burstlens("check", str(old)).stdout


HOSTILE = {
    "nested arrays": "a = " + "[" * 1000 + "]" * 1000,
    "a key of a thousand parts": ".".join(["a"] * 1000) + " = 1",
    "a long name": f'[simulation]\nmodel = "{"x" * 100_000}"\n',
    "a long key": f"{'x' * 100_000} = 1",
    "a long value": f'[simulation]\nnodes = "{"x" * 100_000}"\n',
    "many keys": "".join(f"k{n} = 1\n" for n in range(20_000)),
    "many options": RIGHT + "".join(f"k{n} = 1\n" for n in range(20_000)),
    "many products": "[[product]]\n" * 20_000,
    "too large": "#" * 2_000_000,
    "NUL": "title = 'a\0b'\n",
    "an escape": '[simulation]\nmodel = "\\u001b[31mred"\n',
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_text_gives_one_short_message_soon(recipe_file, what):
    path = recipe_file(HOSTILE[what])
    begun = time.process_time()
    with pytest.raises(RecipeError) as raised:
        load(str(path))
    assert time.process_time() - begun < 20
    message = str(raised.value)
    assert len(message) < 100_000
    assert all(sign.isprintable() or sign == "\n" for sign in message)


def test_not_utf_8_is_reported_with_its_line(tmp_path):
    path = tmp_path / "bytes.toml"
    path.write_bytes(b"a = 1\nb = '\xff'\n")
    with pytest.raises(RecipeError, match=r"bytes\.toml:2:6 is not TOML: byte 0xff"):
        read(str(path))
