"""Headers of classic files, byte by byte."""

from __future__ import annotations

import os
import struct

import pytest

from burstlens.core import cdf
from burstlens.core.cdf import MAX_HEADER_BYTES, MAX_NAME_BYTES, MAX_RANK, Attribute
from burstlens.core.errors import FrameError

BYTE, CHAR, SHORT, DOUBLE = 1, 2, 3, 6


def u32(number):
    return struct.pack(">I", number)


class Writer:
    """Builds headers of one version, by the specification."""

    def __init__(self, version):
        self.version = version

    def count(self, number):
        return struct.pack(">Q" if self.version == 5 else ">I", number)

    def text(self, raw):
        return self.count(len(raw)) + raw + b"\0" * (-len(raw) % 4)

    def listed(self, tag, entries):
        return u32(tag if entries else 0) + self.count(len(entries)) + b"".join(entries)

    def attribute(self, name, kind, length, raw):
        return self.text(name) + u32(kind) + self.count(length) + raw + b"\0" * (-len(raw) % 4)

    def variable(self, name, dimensions, kind, begin, attributes=()):
        place = struct.pack(">I" if self.version == 1 else ">Q", begin)
        numbers = b"".join(map(self.count, dimensions))
        about = self.text(name) + self.count(len(dimensions)) + numbers
        return about + self.listed(12, attributes) + u32(kind) + self.count(999) + place

    def header(self, dimensions=(), attributes=(), variables=(), records=0):
        sizes = [self.text(name) + self.count(length) for name, length in dimensions]
        lists = (10, sizes), (12, attributes), (11, variables)
        start = b"CDF" + bytes([self.version]) + self.count(records)
        return start + b"".join(self.listed(tag, entries) for tag, entries in lists)


@pytest.fixture
def read(tmp_path):
    """Reads the header in these bytes."""

    def make(data):
        (tmp_path / "file").write_bytes(data)
        descriptor = os.open(tmp_path / "file", os.O_RDONLY)
        try:
            return cdf.read_header(descriptor)
        finally:
            os.close(descriptor)

    return make


def usual(version, records=2):
    """Two record variables, of 6 bytes and 1 byte, around two variables without records."""
    writer = Writer(version)
    units = writer.attribute(b"units", CHAR, 3, b"day")
    return writer.header(
        [(b"time", 0), (b"x", 3)],
        [writer.attribute(b"title", CHAR, 5, b"storm"), writer.attribute(b"n", SHORT, 1, b"\0\7")],
        [
            writer.variable(b"v", [0, 1], SHORT, 2000, [units]),
            writer.variable(b"x", [1], DOUBLE, 1000),
            writer.variable(b"flag", [0], BYTE, 2008),
            writer.variable(b"scalar", [], SHORT, 1024),
        ],
        records,
    )


@pytest.mark.parametrize("version", [1, 2, 5])
def test_a_header_of_each_version_is_read(read, version):
    header = read(usual(version))
    assert (header.version, header.records) == (version, 2)
    assert header.attributes["title"] == Attribute("c", b"storm")
    assert header.attributes["n"].number == 7.0
    about = {
        name: (one.shape, one.is_record, one.code, one.begin, one.bytes)
        for name, one in header.variables.items()
    }
    assert about == {
        "v": ((3,), True, "h", 2000, 6),
        "x": ((3,), False, "d", 1000, 24),
        "flag": ((), True, "b", 2008, 1),
        "scalar": ((), False, "h", 1024, 2),
    }
    assert header.variables["v"].attributes["units"].text == "day"


def test_the_offsets_of_records_and_of_fixed_variables(read):
    header = read(usual(1))
    assert header.record_bytes == 8 + 4  # each padded to 4
    assert header.end_of_fixed() == 1026
    assert [header.begin_of_record(index) for index in range(3)] == [2000, 2012, 2024]
    assert [header.end_of_record(index) for index in range(3)] == [2009, 2021, 2033]


def test_records_of_a_single_record_variable_are_not_padded(read):
    writer = Writer(1)
    header = read(
        writer.header([(b"time", 0), (b"x", 3)], [], [writer.variable(b"v", [0, 1], BYTE, 100)])
    )
    assert header.record_bytes == 3
    assert [header.end_of_record(index) for index in range(2)] == [103, 106]


def test_a_header_without_variables_ends_where_it_begins(read):
    header = read(Writer(1).header())
    places = header.end_of_fixed(), header.end_of_record(1), header.begin_of_record(1)
    assert places == (0, 0, 0)
    assert (header.variables, header.attributes, header.record_bytes) == ({}, {}, 0)


def test_the_values_of_record_and_fixed_variables_are_read(tmp_path):
    data = usual(1).ljust(2024, b"\0") + b"."
    data = data[:2012] + b"record" + data[2018:]
    data = data[:1000] + b"fixed".ljust(24, b" ") + data[1024:]
    (tmp_path / "file").write_bytes(data)
    descriptor = os.open(tmp_path / "file", os.O_RDONLY)
    header = cdf.read_header(descriptor)
    assert header.read(descriptor, header.variables["v"], 1) == b"record"
    assert header.read(descriptor, header.variables["x"], 1) == b"fixed".ljust(24, b" ")
    os.close(descriptor)


@pytest.mark.parametrize(
    ("attribute", "text", "number"),
    [
        (Attribute("c", b"day\0\0"), "day", None),
        (Attribute("c", "°C".encode("latin-1")), "°C", None),
        (Attribute("h", b"\0\7\0\x09"), "", 7.0),
        (Attribute("h", b""), "", None),
    ],
)
def test_an_attribute_is_a_text_or_its_first_number(attribute, text, number):
    assert (attribute.text, attribute.number) == (text, number)
    assert number is None or isinstance(attribute.number, float)


@pytest.mark.parametrize("version", [1, 2, 5])
def test_a_known_header_is_recognised_with_its_own_number_of_records(read, version):
    data = usual(version)
    wide = 8 if version == 5 else 4
    first = read(data)
    again = read(data[:4] + (7).to_bytes(wide, "big") + data[4 + wide :])
    assert again.variables is first.variables
    assert (again.records, again.version) == (7, version)
    other = read(data[:-1] + bytes([data[-1] ^ 1]))
    assert other.variables != first.variables


@pytest.mark.parametrize("version", [1, 2, 5])
def test_a_header_that_is_truncated_anywhere_is_not_read(read, version):
    data = usual(version)
    for length in range(len(data)):
        with pytest.raises(FrameError):
            read(data[:length])


@pytest.mark.parametrize("size", [1 << 16, 300_000, 1 << 21])
def test_a_long_header_is_read_to_its_end(read, size):
    writer = Writer(1)
    long = writer.attribute(b"history", CHAR, size, b"h" * size)
    variable = writer.variable(b"v", [], SHORT, 7)
    header = read(writer.header([], [long], [variable]))
    assert (len(header.attributes["history"].raw), header.variables["v"].begin) == (size, 7)


def test_a_header_that_is_too_long_is_refused_before_it_is_read(read):
    writer = Writer(1)
    attribute = writer.attribute(b"history", CHAR, MAX_HEADER_BYTES, b"")
    with pytest.raises(FrameError, match="the header is longer than"):
        read(writer.header([], [attribute]))


@pytest.mark.parametrize(("length", "good"), [(0, False), (MAX_NAME_BYTES, True),
                                              (MAX_NAME_BYTES + 1, False)])  # fmt: skip
def test_a_name_has_a_valid_length(read, length, good):
    data = Writer(1).header([(b"n" * length, 3)])
    if good:
        assert read(data).version == 1
    else:
        with pytest.raises(FrameError, match=f"the header has a name of {length} bytes"):
            read(data)


@pytest.mark.parametrize(("rank", "good"), [(MAX_RANK, True), (MAX_RANK + 1, False)])
def test_the_number_of_dimensions_is_limited(read, rank, good):
    writer = Writer(1)
    data = writer.header([(b"x", 1)], [], [writer.variable(b"v", [0] * rank, SHORT, 7)])
    if good:
        assert len(read(data).variables["v"].shape) == rank
    else:
        with pytest.raises(FrameError, match=f"the variable v has {rank} dimensions"):
            read(data)


def odd(part):
    """A header in which only this part is invalid."""
    writer = Writer(1)
    if part == "tag":
        return writer.header()[:8] + u32(11) + u32(1) + b"\0" * 99
    if part == "length without a tag":
        return writer.header()[:8] + u32(0) + u32(1) + b"\0" * 99
    if part == "type of an attribute":
        return writer.header([], [writer.attribute(b"n", 12, 1, b"\0" * 8)])
    kind, dimension = (0, 0) if part == "type of a variable" else (SHORT, 1)
    return writer.header([(b"x", 1)], [], [writer.variable(b"v", [0, dimension], kind, 7)])


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("tag", "the header has tag 11 where 10 should be"),
        ("length without a tag", "the header has tag 0 where 10 should be"),
        ("type of an attribute", "the header has the unknown type 12"),
        ("type of a variable", "the variable v has the unknown type 0"),
        ("dimension", "the variable v has a dimension that does not exist"),
    ],
)
def test_an_invalid_part_of_a_header_is_refused(read, part, message):
    with pytest.raises(FrameError, match=message):
        read(odd(part))


@pytest.mark.parametrize("magic", [b"CDF\3", b"CDX\1", b"\x89HDF"])
def test_a_file_of_another_format_is_refused(read, magic):
    with pytest.raises(FrameError, match="not a netCDF classic file"):
        read(magic + b"\0" * 64)


@pytest.mark.parametrize(
    ("start", "count"),
    [
        (b"CDF\1" + u32(7) + b"more", 7),
        (b"CDF\2" + u32(7), 7),
        (b"CDF\1" + b"\xff" * 4, None),
        (b"CDF\1" + b"\xff" * 3, None),
        (b"CDF\5" + u32(1) + u32(7), (1 << 32) + 7),
        (b"CDF\5" + b"\0" * 4 + b"\xff" * 4, (1 << 32) - 1),
        (b"CDF\5" + b"\xff" * 8, None),
        (b"CDF\5" + u32(7), None),
    ],
)
def test_the_number_of_records_is_read_from_the_first_bytes(start, count):
    assert cdf.records(start) == count
