from __future__ import annotations

from dataclasses import replace

import pytest

from burstlens.core.errors import RecipeError
from burstlens.workflows.recipe.load import load
from burstlens.workflows.tuning.table import Tune

GOOD = """\
[simulation]
model = "command"
command = ["./model.sh"]
frames = "out_*.nc"
inputs = "inputs"
"""
PRODUCT = '[[product]]\nname = "t2"\nkind = "map"\nvariable = "T2"\n'
STEP = '[[step]]\nname = "real"\ncommand = ["./real"]\n'


@pytest.fixture
def faults(recipe_file):
    """The message on a recipe of this text."""

    def check(text: str) -> str:
        with pytest.raises(RecipeError) as raised:
            load(str(recipe_file(text)))
        return str(raised.value)

    return check


def test_all_faults_are_reported_at_once_by_their_dotted_paths(faults, tmp_path):
    text = faults(
        """\
titel = "Storm"
[simulation]
model = "wfr"
inputs = "inputs"
nodes = 0
walltime = "soon"
[buffer]
capacity = "600 Gb/s"
raw = "forget"
reserve = 1.5
[stage_out]
keep = ["/etc/*"]
[[step]]
name = "real"
command = []
before = "simulation"
[[product]]
name = "t2"
kind = "mapp"
[[product]]
name = "w"
kind = "map"
varaible = "W"
"""
    )
    head, *lines = text.splitlines()
    assert head == f"recipe {tmp_path / 'any.toml'} has 12 faults:"
    found = {line.split()[1]: " ".join(line.split()[2:]) for line in lines}
    places = [line.split()[0].partition(".toml:")[2] for line in lines]
    assert places == [f"{n}:1" for n in (1, 3, 5, 6, 8, 9, 10)] + [
        "12:9", "15:1", "19:1", "20:1", "23:1",
    ]  # fmt: skip
    assert found["titel"] == "unknown key; did you mean title?"
    assert found["simulation.model"] == 'there is no model "wfr"; did you mean wrf?'
    assert found["simulation.nodes"].endswith("greater than or equal to 1, got 0")
    assert "'soon'" in found["simulation.walltime"]
    assert "'600 Gb/s'" in found["buffer.capacity"]
    assert "'keep' or 'release', got 'forget'" in found["buffer.raw"]
    assert "less than 1, got 1.5" in found["buffer.reserve"]
    assert "must stay inside" in found["stage_out.keep.0"]
    assert "a list that is not empty" in found["step.real.command"]
    assert found["product.t2.kind"] == 'there is no kind "mapp"; did you mean map?'
    assert found["product.w.variable"] == "is required"
    assert found["product.w.varaible"] == "unknown key; did you mean variable?"


@pytest.mark.parametrize("key", ["Capacity", "raw-mode", "raw[0]", "str", "", "größe"])
def test_an_unknown_key_of_any_spelling_is_shown_as_it_is(faults, key):
    text = faults(f'{GOOD}[buffer]\n"{key}" = 1\n')
    assert f"buffer.{key}".rstrip(".") in text
    assert "unknown key" in text


def test_a_key_of_a_users_own_table_is_shown(faults):
    text = faults(GOOD + '[simulation.environment]\nOMP_NUM_THREADS = ["8"]\n')
    assert "simulation.environment.OMP_NUM_THREADS" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("title = 3\n" + GOOD, "expected a text, got 3"),
        ("buffer = 3\n" + GOOD, "expected a table [buffer], got 3"),
        ("step = 3\n" + GOOD, "expected [[step]] tables, got 3"),
        ('product = ["t2"]\n' + GOOD, "expected a [[product]] table, got 't2'"),
        ("parameters = 3\n" + GOOD, "expected a table"),
        ("parameters = { n = 3 }\n" + GOOD, "expected a table such as"),
        ("", "a [simulation] table with model and inputs"),
        ('simulation = "wrf"', "a [simulation] table with model and inputs"),
        ('[simulation]\ninputs = "x"\n', "is required; there are awm, command, wrf"),
        (GOOD + PRODUCT + PRODUCT, "the name is taken by another one"),
        (GOOD + STEP, "say one of before, beside, after"),
        (GOOD + STEP + 'before = "simulation"\nafter = "simulation"\n', "say one of before"),
        (GOOD + '[[product]]\nname = "t2"\n', "is required"),
        (GOOD.replace('["./model.sh"]', "[]"), "at least one word"),
        (GOOD.replace("out_*.nc", "/etc/*"), "must be relative"),
        (GOOD + 'progress = "("\n', "not a valid regular expression"),
    ],
)
def test_each_wrong_shape_is_reported_by_one_message(faults, text, expected):
    message = faults(text)
    assert expected in message
    assert "1 fault:" in message


@pytest.mark.parametrize(
    "name", ["../x", "a/b", "..", ".hidden", "-rf", "", "x" * 65, "a b", "a.b", "a\\u001b[31m"]
)
@pytest.mark.parametrize("table", [PRODUCT, STEP + 'before = "simulation"\n'])
def test_a_name_that_is_not_valid_for_files_is_refused(faults, table, name):
    text = faults(GOOD + table.replace('name = "t2"', f'name = "{name}"').replace("real", name, 1))
    assert "a name is" in text or "control character" in text


@pytest.mark.parametrize("pattern", ["/etc/*", "../*", "a/../../b", ""])
def test_a_pattern_that_leads_out_of_the_models_folder_is_refused(faults, pattern):
    assert "must stay inside" in faults(f'{GOOD}[stage_out]\nkeep = ["{pattern}"]\n')
    assert "must stay inside" in faults(f'{GOOD}leave = ["{pattern}"]\n')


@pytest.mark.parametrize(
    "product",
    [
        'kind = "python"\nfunction = "../plots.py:rain"',
        'kind = "map"\nvariable = "T2"\ncities = "../../secret.csv"',
        'kind = "map"\nvariable = "T2"\ntrack = "/etc/passwd"',
        'kind = "python"\nfunction = "/tmp/plots.py:rain"',
        'kind = "command"\ncommand = ["sh", "{out}"]\nfiles = ["../secret"]',
        'kind = "command"\ncommand = ["sh"]\noutput = "/tmp/x.png"',
        'kind = "python"\nfunction = "p.py:f"\nextension = "png/../../x"',
    ],
)
def test_a_product_cannot_name_files_outside_of_the_recipes_folder(faults, product):
    message = faults(f'{GOOD}[[product]]\nname = "mine"\n{product}\n')
    assert "product.mine" in message
    assert "1 fault:" in message


@pytest.mark.parametrize("stream", ["../../x", "a/b", "", ".", "a b"])
def test_a_stream_that_is_not_valid_for_file_names_is_refused(faults, stream):
    text = GOOD.replace('"out_*.nc"', f'{{ "{stream}" = "out_*.nc" }}')
    assert "frames" in faults(text)


@pytest.mark.parametrize("sign", ["\\u0000", "\\u001b]0;owned\\u0007", "\\u009b31m"])
def test_control_characters_are_refused_wherever_they_stand(faults, sign):
    assert "control character" in faults(f'title = "Storm{sign}"\n' + GOOD)
    assert "control character" in faults(GOOD.replace('"inputs"', f'"in{sign}"'))
    assert "control character" in faults(f'{GOOD}[simulation.environment]\nA = "{sign}"\n')


def test_a_recipe_that_is_whole_gives_plain_values(recipe):
    made = recipe("simulation.nodes=4", "simulation.ranks_per_node=8", "buffer.capacity=2 GiB")
    assert made.simulation.ranks == 32
    assert made.buffer.capacity == 2 * 1024**3
    assert made.inputs == made.folder / "inputs"
    assert [product.name for product in made.products] == ["t2"]


def test_inputs_of_an_unknown_user_are_a_missing_folder(recipe):
    assert str(recipe("simulation.inputs=~nobody-here/x").inputs).endswith("~nobody-here/x")


def test_an_unknown_key_of_a_nested_table_is_reported_with_that_table_s_keys(faults):
    product = '[[product]]\nname = "m"\nkind = "map"\nvariable = "T2"\n'
    message = faults(
        GOOD
        + product
        + 'contours = { variable = "P", intervall = 4 }\n'
        + 'cities = [{ name = "A", lat = 3, lon = 4, colour = "red" }]\ncrop = { strid = 2 }\n'
    )
    assert "product.m.contours.intervall  unknown key; did you mean interval?" in message
    assert "product.m.cities.0.colour" in message
    assert "unknown key; there are lat, lon, name, x, y" in message
    assert "did you mean stride?" in message


def chain_of(**keys: str) -> str:
    entry = {"name": "storm", "kind": "python", "function": "p.py:f", "extension": "csv"} | keys
    return "[[product]]\n" + "".join(f'{key} = "{value}"\n' for key, value in entry.items())


CHAINED = chain_of() + "chained = true\n"
FOLLOWING = chain_of(name="at") + 'follows = ["storm"]\n'


@pytest.mark.parametrize(
    ("products", "message"),
    [
        (FOLLOWING, 'product.at.follows.0 follows "storm", which is not a product that goes from'),
        (CHAINED.replace("storm", "storms") + FOLLOWING, "did you mean storms"),
        (CHAINED + FOLLOWING + 'stream = "d02"\n', "which is made of another stream"),
        (
            CHAINED + FOLLOWING + "chained = true\n" + chain_of(name="b") + 'follows = ["at"]\n',
            'product.b.follows.0 follows "at", which itself follows another product',
        ),
    ],
)
def test_a_product_follows_only_one_that_goes_from_frame_to_frame(faults, products, message):
    assert message in " ".join(faults(GOOD + products).split())


def test_products_that_follow_a_chain_pass(recipe):
    assert [product.name for product in recipe(text=GOOD + CHAINED + FOLLOWING).products] == [
        "storm",
        "at",
    ]


def test_limits_do_not_widen_for_a_product_that_depends_on_the_frame_before(faults):
    product = '[[product]]\nname = "rate"\nkind = "map"\nvariable = "rain_rate"\n'
    text = faults(f"{GOOD}{product}log = true\n")
    assert "goes from frame to frame, so its colour limits cannot widen: give [low, high]" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ('contours = { variable = "slp", interval = 0 }', "interval must be above zero"),
        ("limits = [3, 1]", "the first number must be below the second"),
        ("crop = { index = { west_east = [5, 5] } }", "5 to before 5 keeps nothing"),
        ("source = { lat = 3 }", "a place needs lat and lon"),
    ],
)
def test_a_fault_of_a_picture_s_option_is_reported_once(faults, options, message):
    text = faults(f"{GOOD}{PRODUCT}{options}\n")
    assert message in text
    assert "1 fault:" in text


def test_a_variable_is_written_as_it_was_named(faults):
    product = '[[product]]\nname = "w"\nkind = "section"\nvariable = "W@5"\n'
    text = faults(f"{GOOD}{product}start = {{ i = 1, j = 2 }}\nend = {{ i = 5, j = 2 }}\n")
    assert "  W@5 is of one level" in text


def test_a_variable_without_a_name_is_reported(faults):
    assert "a variable needs a name" in faults(GOOD + PRODUCT.replace('"T2"', '" "'))


def test_a_faulty_expression_is_reported_with_the_recipe(faults):
    product = '[[product]]\nname = "hot"\nkind = "map"\nvariable = "T2 - mean(T2)"\n'
    assert "takes a statistic, which would change with the crop" in faults(GOOD + product)


def test_tables_of_recipes_built_for_0_2_are_taken_with_a_warning(recipe):
    one = recipe()
    with pytest.warns(DeprecationWarning, match=r"Recipe\.extra\['tune'\]"):
        other = replace(one, tune=Tune(skip=3))
    assert other.extra == {"tune": Tune(skip=3)}
    with pytest.warns(DeprecationWarning, match=r"the old name goes in 0\.4"):
        assert (other.tune, one.tune) == (Tune(skip=3), Tune())
