import numpy as np
import pytest

from netlearn.certify import certify
from netlearn.network import ShallowNetwork
from netlearn.result import Diagnostics, LearnResult, Status


@pytest.fixture
def result():
    network = ShallowNetwork(np.zeros(3), np.array([1.0]), np.eye(3)[:1])
    X = np.random.default_rng(0).standard_normal((1000, 3))
    certificate = certify(network, X, network(X), failure_prob=0.05, target_lipschitz=1.0)
    diagnostics = Diagnostics(
        rows={"moments": 5000}, seconds={"search": 0.25}, n_candidates=1234, n_tried=1000, notes=("seen",)
    )
    return LearnResult(
        network, certificate, Status.CERTIFIED, subspace=np.eye(3)[:, :1], diagnostics=diagnostics
    )


def test_only_certified_and_recovered_are_success(result):
    assert result.success
    successes = {status for status in Status if LearnResult(None, None, status).success}
    assert successes == {Status.CERTIFIED, Status.RECOVERED}


def test_every_status_is_a_sentence():
    for status in Status:
        assert status.value.endswith(".")
    assert len({status.value for status in Status}) == len(Status)


def test_summary_is_a_card_of_what_is_known(result):
    card = result.summary()
    for words in (
        "CERTIFIED",
        "1 neurons in 3 dimensions",
        "confidence 0.95",
        "1-Lipschitz",
        "dimension 1 of 3",
        "1,000 tried of 1,234",
        "moments 5,000",
        "search 0.25",
        "seen",
    ):
        assert words in card
    assert max(map(len, card.splitlines()[1:])) < 110
    assert LearnResult(None, None, Status.FAILED).summary().count("\n") == 0
