"""Optional packages: imported where they are used, and named with the line to type where they are absent."""

from importlib import import_module
from typing import Any

from netlearn.errors import MissingExtraError


def need(module: str, *, extra: str, purpose: str) -> Any:
    """Import an optional package.

    Parameters
    ----------
    module : str
        Its dotted name.
    extra : str
        The extra of netlearn that installs it.
    purpose : str
        What needs it; opens the sentence of the error.

    Returns
    -------
    module
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(module.partition(".")[0], extra, purpose) from error
