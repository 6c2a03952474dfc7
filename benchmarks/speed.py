"""How long `learn` takes, as ratios within one run; how that grows with k, d and N is in growth.py.

python -m benchmarks.speed large      # k=10, d=1000, N=100,000 against one X.T @ X, with peak memory
python -m benchmarks.speed adam       # k=5, d=50, N=20,000 against a tuned PyTorch Adam reaching 1e-3
"""

import argparse
import resource
import time

import numpy as np

from netlearn import learn, teachers


def seconds(call, repeats=1):
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        result = call()
        best = min(best, time.perf_counter() - start)
    return best, result


def planted(k, d, n, seed=0):
    rng = np.random.default_rng(seed)
    target = teachers.random(k, d, rng)
    X = rng.standard_normal((n, d))
    return target, X, target(X)


def large():
    target, X, y = planted(10, 1000, 100_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ratios = []
    for _ in range(7):  # in turn, so that both meet the same neighbours on the machine
        gram = seconds(lambda: X.T @ X)[0]
        fit, result = seconds(lambda: learn(X, y, n_hidden=10, rng=0))
        ratios.append(fit / gram)
        print(f"one X.T @ X {gram:.2f} s, whole fit {fit:.2f} s, ratio {ratios[-1]:.2f}", flush=True)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"median ratio {np.median(ratios):.2f}")
    print(f"error {result.network.distance(target) / target.norm():.1e}, {result.status.name}")
    print({step: round(s, 2) for step, s in result.diagnostics.seconds.items()})
    print(f"input {X.nbytes / 2**20:.0f} MiB, peak before the fit {before:.0f} MiB, after {after:.0f} MiB")


def adam_to(error, X, y, X_test, y_test, k, restarts=5, max_epochs=400):
    """Return the seconds that each of some Adam runs (width 4k, cosine schedule) needs to reach `error`."""
    import torch

    tensors = [torch.tensor(a, dtype=torch.float32) for a in (X, y, X_test, y_test)]
    X, y, X_test, y_test = tensors
    times = []
    for seed in range(restarts):
        torch.manual_seed(seed)
        model = torch.nn.Sequential(
            torch.nn.Linear(X.shape[1], 4 * k), torch.nn.ReLU(), torch.nn.Linear(4 * k, 1)
        )
        optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, max_epochs)
        start = time.perf_counter()
        for _ in range(max_epochs):
            order = torch.randperm(len(X))
            for i in range(0, len(X), 500):
                rows = order[i : i + 500]
                optimiser.zero_grad()
                torch.mean((model(X[rows])[:, 0] - y[rows]) ** 2).backward()
                optimiser.step()
            schedule.step()
            with torch.no_grad():
                reached = torch.sqrt(torch.mean((model(X_test)[:, 0] - y_test) ** 2) / torch.mean(y_test**2))
            if reached < error:
                times.append(time.perf_counter() - start)
                break
        else:
            times.append(np.inf)
    return times


def adam():
    target, X, y = planted(5, 50, 20_000)
    X_test = np.random.default_rng(1).standard_normal((5000, 50))
    fit, result = seconds(lambda: learn(X, y, n_hidden=5, rng=0), 3)
    rival = adam_to(1e-3, X, y, X_test, target(X_test), 5)
    print(f"learn {fit:.2f} s to {result.network.distance(target) / target.norm():.1e}")
    print(f"Adam, 5 restarts to choose from, {sum(rival):.1f} s to 1e-3 each, ratio {fit / sum(rival):.3f}")
    print(f"the fastest restart alone {min(rival):.1f} s, ratio {fit / min(rival):.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["large", "adam"])
    {"large": large, "adam": adam}[parser.parse_args().what]()
