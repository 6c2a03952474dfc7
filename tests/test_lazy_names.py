"""Public names load on first use, each in a fresh interpreter."""

import subprocess
import sys

import pytest

HEAVY = ("numpy", "scipy", "sklearn", "netlearn.network")


def fresh(code):
    """Run code in a new interpreter and return what it prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("module", ["netlearn", "netlearn.cli"])
def test_importing_the_doorway_loads_nothing_heavy(module):
    assert fresh(f"import sys, {module}; print([m for m in {HEAVY} if m in sys.modules])") == "[]"


def test_a_name_loads_what_it_needs():
    # Negative control of the test above: the same list is not empty once a name is used.
    code = f"import sys, netlearn; netlearn.ShallowNetwork; print([m for m in {HEAVY} if m in sys.modules])"
    assert "numpy" in fresh(code)


def test_every_name_is_listed_and_found_whatever_was_imported_before():
    # Importing a submodule binds it as an attribute of the package: a function of the same name would be lost.
    code = """
import importlib, pkgutil, types, netlearn
assert set(netlearn.__all__) <= set(dir(netlearn))
for module in pkgutil.walk_packages(netlearn.__path__, "netlearn."):
    importlib.import_module(module.name)
modules = {name for name in netlearn.__all__ if isinstance(getattr(netlearn, name), types.ModuleType)}
print(sorted(modules))
"""
    assert fresh(code) == "['paper', 'teachers']"


def test_an_unknown_name_is_refused_as_usual():
    code = "import netlearn\ntry: netlearn.nonsense\nexcept AttributeError as error: print(error)"
    assert fresh(code) == "module 'netlearn' has no attribute 'nonsense'"
