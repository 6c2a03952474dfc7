"""The script whose types are checked by `make lint` also runs."""

import numpy as np

from netlearn import Status
from tests.typing import user_script


def test_a_users_script_runs(tmp_path, capsys):
    assert user_script.from_arrays().status is Status.RECOVERED
    assert user_script.by_default().network.n_hidden == 2
    assert np.isfinite(user_script.from_a_frame())
    assert user_script.from_a_path(tmp_path).n_features == 3
    assert user_script.as_an_estimator().shape == (600,)
    assert 0 < user_script.from_a_black_box() <= 5_000
    assert user_script.as_in_the_paper()
    assert user_script.by_hand().n_features == 2
    assert "RECOVERED" in capsys.readouterr().out
