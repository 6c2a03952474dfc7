"""Cutting rows into other blocks than the default ones."""

from dataclasses import replace

from netlearn.backend import grain


def cut(monkeypatch, **changes):
    """Let blocks have other sizes (`Grain`'s fields), for every library alike."""
    for name in ("_NUMPY", "_TORCH", "_DEVICE"):
        monkeypatch.setattr(grain, name, replace(getattr(grain, name), **changes))
