"""How the failure probability is divided: seven events may go wrong, and their probabilities add up to it."""

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Shares:
    """The part of the failure probability that each step may use; the union bound is their sum.

    Attributes
    ----------
    directions : float
        No draw of g satisfies Lemma 2.4.
    moments : float
        Some moment matrix is off by more than eta (Lemma 2.3).
    linear : float
        w_hat is off by more than eta (Lemma 2.3, ell = 1).
    net : float
        A random net of directions does not cover; the deterministic nets leave this share unused.
    screening : float
        The best candidate's set is passed over before validation (`netlearn.paper.search`).
    validation : float
        Some candidate's empirical error is misleading (Lemma 2.5): a good one fails, or a bad one passes.
    acceptance : float
        The fresh rows of the final certificate mislead: one half for a bound that is false, the other for a good
        network that is refused.
    """

    directions: float
    moments: float
    linear: float
    net: float
    screening: float
    validation: float
    acceptance: float

    @classmethod
    def equal(cls, failure_prob: float) -> "Shares":
        """Give every step the same part. All bounds depend on it through its logarithm, so more would gain nothing."""
        steps = fields(cls)
        return cls(*[failure_prob / len(steps)] * len(steps))

    @property
    def total(self) -> float:
        """Return the probability that at least one of the events happens, by the union bound."""
        return sum(getattr(self, step.name) for step in fields(self))
