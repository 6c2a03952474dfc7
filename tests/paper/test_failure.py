"""The shares of the failure probability."""

from dataclasses import fields

import pytest

from netlearn.paper.failure import Shares


@pytest.mark.parametrize("failure_prob", [0.01, 0.3])
def test_shares_are_equal_and_add_up(failure_prob):
    shares = Shares.equal(failure_prob)
    parts = [getattr(shares, part.name) for part in fields(shares)]
    assert [part.name for part in fields(shares)] == [
        *("directions", "moments", "linear", "net", "screening", "validation", "acceptance")
    ]
    assert parts == pytest.approx([failure_prob / 7] * 7)
    assert shares.total == pytest.approx(failure_prob)
