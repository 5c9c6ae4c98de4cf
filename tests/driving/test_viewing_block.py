"""What the journal says of the viewing block of a run on this machine."""

from __future__ import annotations


def test_the_first_answer_of_the_block_is_journalled_once_and_before_its_products(standing):
    standing.done()
    events = standing.events("done")
    assert events.count("viewing.started") == 1
    first = [events.index(name) for name in ("viewing.queued", "viewing.started")]
    assert first == sorted(first)
    assert events.index("viewing.started") < events.index("product.published")
    assert events.index("buffer.requested") < events.index("buffer.created")
