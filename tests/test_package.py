import importlib
from importlib.metadata import version

import netlearn


def test_all_lists_names_that_exist_once():
    assert len(set(netlearn.__all__)) == len(netlearn.__all__)
    for name in netlearn.__all__:
        assert hasattr(netlearn, name), name


def test_version_is_the_installed_one():
    importlib.reload(netlearn)
    assert netlearn.__version__ == version("netlearn")
