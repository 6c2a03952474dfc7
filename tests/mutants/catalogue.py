"""The mutants: one wrong formula each, and the tests that must turn red.

A mutant replaces `old`, which must occur exactly once in its file, by `new`. Those of the first group once passed all
tests of the paper.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A wrong formula: what it is, where, what is replaced by what, and the files of the tests that must notice."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def _of(file: str, tests: str, *changes: tuple[str, str, str]) -> list[Mutant]:
    paths = tuple(f"tests/{test}" for test in tests.split())
    return [Mutant(name, f"netlearn/{file}", old, new, paths) for name, old, new in changes]


MUTANTS = [
    # The six that the tests of the paper once let pass.
    *_of(
        "paper/schedule.py",
        "paper/test_schedule.py",
        ("Lemma 2.3: 3^ell dropped from the rows", "        + ell * math.log10(3.0)\n", ""),
        ("Lemma 2.3: d^2 dropped from the rows", "math.sqrt(3.0) * R**2 * d**2)", "math.sqrt(3.0) * R**2)"),
        ("Lemma 2.3: eta^-2 turned into eta^-1", "log10_N = -2.0 * log10_eta", "log10_N = -1.0 * log10_eta"),
        (
            "N_val: union over candidates left out",
            "            log10_candidates=schedule.log10_sets + log10_weight_cells(k, R, epsilon) + math.log10(2.0),\n",
            "",
        ),
        ("N_val: L = R", "return 2.0 * self.R + (self.eta", "return self.R + (self.eta"),
        ("N_val as printed: L = R", "(k + 4) * R / 2.0,", "R / 2.0,"),
        (
            "N_val as printed: upsilon = 10 epsilon",
            "            self.epsilon / 2.0,\n",
            "            10.0 * self.epsilon,\n",
        ),
    ),
    *_of(
        "paper/validation.py",
        "paper/test_validation.py",
        ("Lemma 2.5 as printed: no dependence on k", "b = (k + 2.0) * L**2", "b = 3.0 * L**2"),
    ),
    # Section 4.5: the schedule.
    *_of(
        "paper/schedule.py",
        "paper/test_schedule.py",
        ("tau without 1/k", "tau = C * epsilon / k\n", "tau = C * epsilon\n"),
        ("xi without 1/R", "xi = C * epsilon / (k * R)\n", "xi = C * epsilon / k\n"),
        ("Delta with k^3", "(2.0 * k**4 * d**1.5 * R)", "(2.0 * k**3 * d**1.5 * R)"),
        ("Delta with d", "(2.0 * k**4 * d**1.5 * R)", "(2.0 * k**4 * d * R)"),
        (
            "nu without 1/d",
            "math.log10(C**2 * xi**2 * tau / (d * R)) - max",
            "math.log10(C**2 * xi**2 * tau / R) - max",
        ),
        ("nu with gaps Delta instead of Delta^2", "(k, s, 2.0 * log10_Delta)", "(k, s, log10_Delta)"),
        ("eta = eta'", "log10_eta = 2.0 * log10_nu", "log10_eta = log10_nu"),
        (
            "orders up to 2 k^2",
            "orders = tuple(range(2, 2 * k**2 + 3, 2)) if",
            "orders = tuple(range(2, 2 * k**2 + 1, 2)) if",
        ),
        (
            "one draw of g too few",
            "return math.ceil(math.log(1.0 / failure_prob) / math.log(5.0))",
            "return math.ceil(math.log(1.0 / failure_prob) / math.log(5.0)) - 1",
        ),
        (
            "union over the moment matrices left out",
            "math.log10(n_probes / shares.moments)",
            "math.log10(1.0 / shares.moments)",
        ),
        ("acceptance at epsilon^2", "return self.epsilon**2 / 2.0", "return self.epsilon**2"),
        (
            "practical net twice too coarse",
            "self.epsilon / (2.0 * self.R), math.sqrt",
            "self.epsilon / self.R, math.sqrt",
        ),
        ("practical rows for w_hat a quarter", "1024 * (d + 2)", "256 * (d + 2)"),
        ("practical N_val with one event", "share.screening / SCREENING_EVENTS", "share.screening"),
        (
            "certified mean square without the validation's deviation",
            "DEVIATION * self.epsilon if self.origin",
            "0.0 if self.origin",
        ),
        ("running time without d^2", "self.n_features**2 * len(self.orders)", "len(self.orders)"),
    ),
    *_of(
        "paper/failure.py",
        "paper/test_schedule.py paper/test_failure.py",
        (
            "shares add up to twice the claim",
            "failure_prob / len(steps)]",
            "2.0 * failure_prob / len(steps)]",
        ),
        ("a share left out of the sum", "for step in fields(self))", "for step in fields(self)[1:])"),
    ),
    # Lemma 2.5 and its sharper forms.
    *_of(
        "paper/validation.py",
        "paper/test_validation.py",
        (
            "root form with epsilon/2 for the deviation",
            "DEVIATION = 1.0 / math.sqrt(2.0) - 0.5",
            "DEVIATION = 0.5",
        ),
        (
            "root form without the factor 2 of two tails",
            "t = math.log(2.0 / failure_prob) + log10_candidates * math.log(10.0)\n    return",
            "t = math.log(1.0 / failure_prob) + log10_candidates * math.log(10.0)\n    return",
        ),
        (
            "root form linear in L/epsilon",
            "+ 2.0 * math.log10(lipschitz / epsilon)",
            "+ math.log10(lipschitz / epsilon)",
        ),
        (
            "upper tail with t instead of 2 t",
            "math.ceil(2.0 * math.log(1.0 / failure_prob) * (lipschitz / deviation) ** 2)",
            "math.ceil(math.log(1.0 / failure_prob) * (lipschitz / deviation) ** 2)",
        ),
        (
            "certification with half the variance",
            "(epsilon**4 + 4.0 * lipschitz**2 * epsilon**2)",
            "(epsilon**4 + 2.0 * lipschitz**2 * epsilon**2)",
        ),
        (
            "printed form without its union",
            "math.log(2.0 / failure_prob) + log10_candidates * math.log(10.0)\n    b =",
            "math.log(2.0 / failure_prob)\n    b =",
        ),
        (
            "cells of weights without the power m",
            "return n_hidden * math.log10(1.0 +",
            "return math.log10(1.0 +",
        ),
    ),
    # The nets.
    *_of(
        "paper/nets.py",
        "paper/test_nets.py",
        ("rings at the smaller of two cosines", "min(1.0, max(cosines))", "min(1.0, min(cosines))"),
        ("rings without the half step at the pole", "/ (n_rings - 0.5)", "/ n_rings"),
        (
            "upper rings covered up to sign only",
            "q = _points(dim - 1, width, False)",
            "q = _points(dim - 1, width, True)",
        ),
        (
            "half circle as a circle",
            "(np.pi if half else 2.0 * np.pi) * np.arange(n)",
            "2.0 * np.pi * np.arange(n)",
        ),
        (
            "radius taken for an angle",
            "points = _points(dim, 2.0 * math.asin(radius / 2.0), True)",
            "points = _points(dim, 2.0 * radius, True)",
        ),
    ),
    # The search over sets.
    *_of(
        "paper/sets.py",
        "paper/test_sets.py",
        (
            "pairs compared without b_j b_l",
            "np.stack([T[:, None] * h, b], axis=2)",
            "np.stack([T[:, None] * h, 0.0 * b], axis=2)",
        ),
        (
            "update of b left out",
            "return h, b - beta[:, None] * h, r - beta**2",
            "return h, b + 0.0 * h, r - beta**2",
        ),
        ("ridge not added to the limit", "self._slack = slack + 1e-12", "self._slack = 0.0 * slack + 1e-12"),
        ("absolute value left out", "            np.abs(block, out=block)\n", ""),
        (
            "last direction never tried",
            "for j0 in range(begin, n - 1, rows)",
            "for j0 in range(begin, n - 2, rows)",
        ),
        (
            "sets of one unit skipped",
            "alone = np.flatnonzero(least <= self.limit + self._slack)",
            "alone = np.flatnonzero(least <= -1.0)",
        ),
    ),
    *_of(
        "paper/weights.py",
        "paper/test_weights.py",
        ("constraint on the sum ignored", "> R * (1.0 + 1e-12)", "> 1e9 * R"),
        ("signs of the boundary not checked", "values[np.any(signs * lam < 0.0, axis=2)] = np.inf", "pass"),
        ("multiplier with the wrong sign", "mu = (free @ signs.T - R)", "mu = (R - free @ signs.T)"),
    ),
    *_of(
        "paper/screening.py",
        "paper/test_screening.py",
        (
            "Gram matrix without the angle's term",
            "(np.sqrt((1.0 - c) * (1.0 + c)) + c * np.arcsin(c))",
            "(np.sqrt((1.0 - c) * (1.0 + c)) + c)",
        ),
        ("baseline's cross term once", "(self._ee + 2.0 * self._ef)", "(self._ee + self._ef)"),
        (
            "baseline's correlations left out",
            "self._ea / n + abs_gram(self._directions, units) @ lam",
            "self._ea / n",
        ),
        ("margin without its deviation", "- sigma * math.sqrt(2.0 * t)", "- 0.0 * t"),
    ),
    *_of(
        "paper/search.py",
        "paper/test_search.py paper/test_algorithm.py",
        (
            "validation divided by half the rows",
            "return total / round(n_rows)",
            "return 2.0 * total / round(n_rows)",
        ),
        (
            "screening limit without the net's radius",
            "nearest = schedule.R * radius + ESTIMATION_ERROR",
            "nearest = ESTIMATION_ERROR",
        ),
        (
            "coarse nets always exclude",
            "return next(screen(total, schedule, radius).survivors(), None) is None",
            "return True",
        ),
        (
            "validation of sets accepts anything",
            "        if value <= schedule.threshold:\n            return Chosen",
            "        if True:\n            return Chosen",
        ),
        (
            "the least correlated set is taken",
            "        place = int(np.argmin(values))\n        if values[place]",
            "        place = int(np.argmax(values))\n        if values[place]",
        ),
    ),
    # Algorithm 1, its lemmas and its predecessor.
    *_of(
        "paper/algorithm.py",
        "paper/test_algorithm.py",
        (
            "certificate at the whole failure probability",
            "schedule.shares.acceptance / 2.0",
            "schedule.failure_prob",
        ),
        (
            "success without a certificate",
            "Status.CERTIFIED if certified else Status.FAILED",
            "Status.CERTIFIED",
        ),
        ("projectors cut at the noise itself", "else NOISE_CUT * floor", "else 0.2 * floor"),
    ),
    *_of(
        "paper/predecessor.py",
        "paper/test_predecessor.py",
        ("all singular vectors instead of the top k", "[:, :n_hidden]", ""),
        ("joint span cut as Algorithm 1 cuts it", "joint_span(bases, _WHOLE_SPAN)", "joint_span(bases, 0.5)"),
        ("nothing is subtracted between stages", "return X, y - estimate(X)", "return X, y"),
    ),
    *_of(
        "paper/polynomial.py",
        "paper/test_polynomial.py",
        (
            "Lemma 3.1: product over one node too few",
            "inside, outside = nodes[a - 1 : b], nodes[: a - 1] + nodes[b:]",
            "inside, outside = nodes[a : b], nodes[: a - 1] + nodes[b:]",
        ),
        (
            "Lemma 3.1: bound with 1/Delta",
            "log10_ratio = size * (math.log10(2.0) - log10_gap)",
            "log10_ratio = -size * log10_gap",
        ),
        (
            "Lemma 3.1: ties refused",
            "all(s <= t for s, t in pairwise(x))",
            "all(s < t for s, t in pairwise(x))",
        ),
        (
            "Remark 4.10: degree s k",
            "degree = max(s * (k - s) for s in sizes)",
            "degree = max(s * k for s in sizes)",
        ),
    ),
    *_of(
        "paper/clusters.py",
        "paper/test_clusters.py paper/test_lemmas_clusters.py",
        ("clusters cut at 2 Delta", "np.diff(z[order]) > Delta", "np.diff(z[order]) > 2.0 * Delta"),
        ("signs of the projections kept", "z = np.abs(network.units @ g)", "z = network.units @ g"),
        (
            "big clusters by the sum of absolute weights",
            "network.coefficients[list(part)].sum()",
            "np.abs(network.coefficients[list(part)]).sum()",
        ),
        (
            "leader at the right end",
            "tuple(part[0] for part in members)",
            "tuple(part[-1] for part in members)",
        ),
    ),
    *_of(
        "paper/directions.py",
        "paper/test_directions.py",
        ("Lemma 2.4: c twice as large", "LOWER = 1.0 / 8.0", "LOWER = 1.0 / 4.0"),
        ("Lemma 2.4: c half as large", "LOWER = 1.0 / 8.0", "LOWER = 1.0 / 16.0"),
        ("Lemma 2.4: lower side with 1/k", "lower / (k**2 * math.sqrt(d))", "lower / (k * math.sqrt(d))"),
        (
            "Lemma 2.4: differences left out",
            "[units, units[i] + units[j], units[i] - units[j]]",
            "[units, units[i] + units[j], units[i] + units[j]]",
        ),
        (
            "Lemma 2.4: lengths left out",
            "np.abs(vectors @ g) / np.linalg.norm(vectors, axis=1)",
            "np.abs(vectors @ g)",
        ),
    ),
    *_of(
        "paper/bruteforce.py",
        "paper/test_bruteforce.py",
        (
            "printed loop: sum instead of mean",
            "return ValidationLoss(self._rr / n, self._ra / n, self._aa / n, n)",
            "return ValidationLoss(self._rr / n, self._ra / n, self._aa / (n - 1), n)",
        ),
        (
            "printed loop: accepts below the threshold only by half",
            "math.nextafter(threshold, math.inf)",
            "threshold / 2.0",
        ),
    ),
    *_of(
        "subspace/projectors.py",
        "subspace/test_projectors.py",
        (
            "line 4: positive eigenvalues only",
            "xp.astype(xp.abs(rho) >= eta_prime, xp.int64)",
            "xp.astype(rho >= eta_prime, xp.int64)",
        ),
        ("line 5: singular values instead of their squares", "kappa = singular**2", "kappa = singular"),
    ),
    *_of(
        "moments/polynomials.py",
        "moments/test_polynomials.py",
        ("Lemma 2.3: sign of c_ell", "sign = 1 if ell % 4 == 2 else -1", "sign = 1"),
    ),
    # What fresh rows prove: share, envelope, slope, law of the inputs.
    *_of(
        "certify/share.py",
        "certify/test_share.py",
        (
            "share from one row less",
            "-math.expm1(math.log(failure_prob) / n)",
            "-math.expm1(math.log(failure_prob) / (n - 1))",
        ),
        (
            "share at half the failure probability",
            "-math.expm1(math.log(failure_prob) / n)",
            "-math.expm1(math.log(failure_prob / 2) / n)",
        ),
        (
            "Beta at its other tail",
            "beta.ppf(failure_prob, i, n - i + 1)",
            "beta.isf(failure_prob, i, n - i + 1)",
        ),
        ("Beta one position off", "beta.ppf(failure_prob, i, n - i + 1)", "beta.ppf(failure_prob, i, n - i)"),
        (
            "level of the largest error at 1 - failure_prob",
            "math.exp(math.log(failure_prob) / n)",
            "math.exp(math.log1p(-failure_prob) / n)",
        ),
        (
            "one fresh row too few for a share",
            "math.ceil(math.log(failure_prob) / math.log1p(-share))",
            "math.floor(math.log(failure_prob) / math.log1p(-share))",
        ),
    ),
    *_of(
        "certify/envelope.py",
        "certify/test_envelope.py",
        (
            "envelope without its union",
            "(1.0 - _FOR_LARGEST) * failure_prob / max(len(beyond) - 1, 1)",
            "(1.0 - _FOR_LARGEST) * failure_prob",
        ),
        (
            "envelope that spends its failure probability twice",
            "rates[-1] = _FOR_LARGEST * failure_prob if",
            "rates[-1] = failure_prob if",
        ),
        ("envelope with quantiles of the other tail", "ndtri(levels)))", "-ndtri(levels)[::-1]))"),
        ("envelope with a flat tail", " + _integral(a[-1], level[-1], np.inf)", ""),
        (
            "root mean square bound with sigma = L/n",
            "sigma, z = lipschitz / math.sqrt(n_rows)",
            "sigma, z = lipschitz / n_rows",
        ),
        ("root mean square bound without m1", "root * (root + 2.0 * sigma * m1)", "root * root"),
        (
            "root mean square bound at another quantile",
            "-float(ndtri(failure_prob))",
            "-float(ndtri(2.0 * failure_prob))",
        ),
    ),
    *_of(
        "certify/certificate.py",
        "certify/test_certificate.py certify/test_outputs.py",
        ("slope of the target alone", "slope = own + (STEEPNESS", "slope = (STEEPNESS"),
        (
            "slope halved",
            "slope = own + (STEEPNESS * own if given is None else in_normal(given))",
            "slope = 0.5 * (own + (STEEPNESS * own if given is None else in_normal(given)))",
        ),
        ("target assumed no steeper than the network", "STEEPNESS = 2.0", "STEEPNESS = 1.0"),
        (
            "noise left out of the slope",
            "slope = math.hypot(slope, _noise_limit(errors, noise * failure_prob))",
            "pass",
        ),
        (
            "noise limited from below",
            "chi2.ppf(failure_prob, len(errors))",
            "chi2.isf(failure_prob, len(errors))",
        ),
        (
            "limits that cost nothing",
            "rest = (1.0 - for_spread - noise) * failure_prob",
            "rest = failure_prob",
        ),
        (
            "rounding of labels left out",
            "envelope_bound(sizes + basis.rounding, slope, rest)",
            "envelope_bound(sizes, slope, rest)",
        ),
        (
            "distance moved left out",
            "error_bound=certificate.error_bound + distance",
            "error_bound=certificate.error_bound",
        ),
        (
            "outputs without their union",
            "of_output, failure_prob / m, basis, step)",
            "of_output, failure_prob, basis, step)",
        ),
        (
            "wrong labels left out of the tolerance alone",
            "share_beyond(n, failure_prob, n_beyond)",
            "share_beyond(n, failure_prob)",
        ),
    ),
    *_of(
        "certify/law.py",
        "certify/test_law.py",
        (
            "sample deviation as its own upper limit",
            "factor = math.sqrt((n - 1) / chi2.ppf(failure_prob / (k + 5), n - 1))",
            "factor = 1.0",
        ),
        (
            "chi-square at its other tail",
            "chi2.ppf(failure_prob / (k + 5), n - 1)",
            "chi2.isf(failure_prob / (k + 5), n - 1)",
        ),
        (
            "range of the rows as the box",
            "spread.width / beta.ppf(failure_prob / len(spread.width), n - 1, 2) / math",
            "spread.width / math",
        ),
        (
            "slope of a box off by sqrt(2 pi)",
            "n - 1, 2) / math.sqrt(2.0 * math.pi)",
            "n - 1, 2) / (2.0 * math.pi)",
        ),
    ),
    *_of(
        "certify/slope.py",
        "certify/test_slope.py",
        (
            "sign patterns of one unit",
            "signs = 1.0 - 2.0 * ((np.arange(2**k)",
            "signs = 1.0 - 2.0 * ((np.arange(2)",
        ),
        ("norm of the weights left out", "np.linalg.norm(Lambda / size[:, None], 2) * ", "1.0 * "),
    ),
]
