import json
import math
from dataclasses import replace

import numpy as np
import pytest

from netlearn.certify import certify
from netlearn.cli.describe import certificate_data, network_data
from netlearn.cli.output import number
from netlearn.network import ShallowNetwork


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        (0.000125, "0.000125"),
        (99, "99"),
        (158, "158"),
        (1_228_800, "1,228,800"),
        (2e9, "10^9.3"),
        (1e-5, "10^-5.0"),
    ],
)
def test_numbers_are_written_in_full_where_that_is_short(value, text):
    assert number(math.log10(value)) == text


def test_numbers_beyond_float64_are_powers_of_ten():
    assert number(-616.04) == "10^-616.0"
    assert number(1271.8) == "10^1271.8"


def test_a_network_comes_back_from_its_json():
    rng = np.random.default_rng(0)
    network = ShallowNetwork(
        rng.standard_normal(3), rng.standard_normal(2), rng.standard_normal((2, 3)), [1, 2], 3
    )
    assert ShallowNetwork(**json.loads(json.dumps(network_data(network)))).distance(network) <= 1e-14


def test_a_bound_that_is_infinite_is_null():
    network = ShallowNetwork(np.zeros(1), np.zeros(0), np.zeros((0, 1)))
    X = np.ones((2, 1))
    certificate = certify(network, X, np.zeros(2), failure_prob=0.01, target_lipschitz=1.0)
    assert certificate.error_bound == math.inf
    assert certificate_data(certificate)["error_bound"] is None
    assert certificate_data(replace(certificate, error_bound=0.5))["error_bound"] == 0.5
