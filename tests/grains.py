"""Cutting rows into other blocks than the default ones."""

from dataclasses import replace

from netlearn.backend import grain


def cut(monkeypatch, **changes):
    """Let blocks on this machine have other sizes (`Grain`'s fields), for NumPy and torch alike."""
    for name in ("_NUMPY", "_TORCH"):
        monkeypatch.setattr(grain, name, replace(getattr(grain, name), **changes))
