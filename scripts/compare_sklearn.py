"""Hold dengxu's learners against scikit-learn on the same features and split.

    dengxu evaluate --csv FILE --train 1-20 --test 21-28 --rows rows.csv
    python3 scripts/compare_sklearn.py rows.csv

scikit-learn (Debian: python3-sklearn) is used here only; the product does
without it. Exit code 1: a pinball loss of dengxu's trees is more than 1.5 %
above, or a coverage more than 2 points from, that of scikit-learn's boosted
trees; or the line's loss differs by more than 1.5 % from that of an exact
quantile regression. Exit code 2: scikit-learn is absent.
"""

import csv
import sys

try:
    import numpy as np
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import QuantileRegressor
except ImportError as missing:
    print(f"compare_sklearn: {missing}; apt-get install python3-sklearn", file=sys.stderr)
    sys.exit(2)

SAID = ["trees50", "trees90", "linear50", "linear90"]


def read(path):
    """Return the columns of the file as arrays, by part."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    features = [n for n in rows[0] if n not in ("part", "base", "wait", *SAID)]
    parts = {}
    for part in ("train", "test"):
        some = [r for r in rows if r["part"] == part]
        number = lambda r, n: float(r[n]) if r[n] else np.nan  # noqa: E731
        parts[part] = {n: np.array([number(r, n) for r in some]) for n in ("base", "wait", *SAID)}
        parts[part]["x"] = np.array([[number(r, n) for n in features] for r in some])
    return parts


def pinball(tau, wait, said):
    """Return the mean loss in seconds."""
    off = wait - said
    return np.mean(np.maximum(tau * off, (tau - 1) * off))


def coverage(wait, said):
    """Return the share of waits that are at most what was said."""
    return np.mean(wait <= said)


def trees(train, test, tau):
    """Predict with boosted trees of the same size as dengxu's."""
    base = np.maximum(1, train["base"])
    model = HistGradientBoostingRegressor(
        loss="quantile", quantile=tau, max_iter=100, max_leaf_nodes=8, learning_rate=0.06,
        min_samples_leaf=40, max_bins=63, early_stopping=False, random_state=1,
    )
    model.fit(train["x"], train["wait"] / base, sample_weight=base)
    return test["base"] * np.maximum(0.05, model.predict(test["x"]))


def line(train, test, tau):
    """Predict with a quantile regression found by linear programming."""
    mean, spread = np.nanmean(train["x"], axis=0), np.nanstd(train["x"], axis=0)
    spread[spread == 0] = 1
    low, high = np.nanmin(train["x"], axis=0), np.nanmax(train["x"], axis=0)

    def standard(x):
        x = np.where(np.isnan(x), mean, np.clip(x, low, high))
        return (x - mean) / spread

    base = np.maximum(1, train["base"])
    model = QuantileRegressor(quantile=tau, alpha=0, solver="highs")
    model.fit(standard(train["x"]), train["wait"] / base, sample_weight=base)
    return test["base"] * np.maximum(0.05, model.predict(standard(test["x"])))


def main(path):
    """Print both, and return the exit code."""
    parts = read(path)
    train, test = parts["train"], parts["test"]
    wait, failed = test["wait"], False
    print(f"train n {len(train['wait'])}, test n {len(wait)}")
    print(f"{'':10}{'dengxu':>10}{'sklearn':>10}{'loss':>8}   coverage")
    for name, learn in (("trees", trees), ("linear", line)):
        for tau in (0.5, 0.9):
            ours, theirs = test[f"{name}{tau * 100:.0f}"], learn(train, test, tau)
            a, b = pinball(tau, wait, ours), pinball(tau, wait, theirs)
            ca, cb = coverage(wait, ours), coverage(wait, theirs)
            wrong = a > 1.015 * b or abs(ca - cb) > 0.02
            failed |= wrong
            print(f"{name} {tau:<4}{a:10.3f}{b:10.3f}{a / b - 1:+8.2%}   {ca:.3f} {cb:.3f}{'  DIFFERS' if wrong else ''}")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(sys.argv[1]))
