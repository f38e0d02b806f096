"""Golden values for the long-run variance: the documented procedure, written a second time with NumPy and SciPy.

The cosine transform is SciPy's fast one, and autoregressions are solved as systems of equations, not step by step.
Run in a virtual environment with the packages that long_run.json names under "versions":
    python make_long_run.py > long_run.json
"""

import json
import platform
import sys

import numpy
import scipy
import scipy.fft
import scipy.linalg
import scipy.stats


def correlated(random, n, coefficient):
    series = [random.normal()]
    for shock in random.normal(size=n - 1):
        series.append(coefficient * series[-1] + (1 - coefficient**2) ** 0.5 * shock)
    return numpy.array(series)


def autoregression(series, fitted):
    n = len(series)
    if n <= 4:
        return numpy.zeros(0)
    deviations = series - series.mean()
    most = min(max(n // 10, 1), 8)
    covariances = numpy.array([deviations[lag:] @ deviations[: n - lag] / n for lag in range(most + 1)])
    best, least = numpy.zeros(0), n * numpy.log(covariances[0]) + 2 * n / (n - 2)
    for order in range(1, most + 1):
        found = scipy.linalg.solve_toeplitz(covariances[:order], covariances[1 : order + 1])
        unexplained = covariances[0] - found @ covariances[1 : order + 1]
        criterion = n * numpy.log(unexplained) + 2 * (order + 1) * n / (n - order - 2)
        if criterion < least or (order == 1 and found[0] > 0):
            best, least = found, criterion
    order, total = len(best), best.sum()
    if order == 0:
        return best
    cleared = (n * total + fitted * order) / (n - min((order + 3) * fitted, n / 2))
    return best + (min(cleared, max(total, 0.97)) - total) / order


def long_run(series, fitted):
    n = len(series)
    held = n - fitted
    reach = min(min(max(int(1.5 * n ** (2 / 3)), 6), 512), held)
    fewest = min(6, held)
    numbers = numpy.arange(fitted, fitted + reach)
    memory = autoregression(series, fitted)
    lags = numpy.arange(1, len(memory) + 1)
    response = 1 - (memory * numpy.exp(-1j * numpy.pi / n * numpy.outer(numbers, lags))).sum(axis=1)
    shares = (1 - memory.sum()) ** 2 / abs(response) ** 2
    means = shares.cumsum() / numpy.arange(1, reach + 1)
    beyond = numpy.flatnonzero((means < 0.9) | (means > 2))
    flat = max(beyond[0] if len(beyond) else reach, fewest)
    powers = (scipy.fft.dct(series - series.mean(), type=2, norm="ortho") ** 2)[numbers]
    whitened = powers / shares
    used = lower = flat
    while lower > fewest:
        lower = max(lower // 2, fewest)
        score = (whitened[:lower].mean() / whitened[:used].mean() - 1) / numpy.sqrt(2 / lower * (1 - lower / used))
        if score > 1.5:
            used = lower
    share = min(means[used - 1], 1)
    return {
        "series": series.tolist(),
        "fitted": fitted,
        "variance": powers[:used].mean() / share,
        "freedom": max(used * share**2, min(3, held)),
        "frequencies": int(used),
    }


def mean_case(random, n, coefficient):
    series = correlated(random, n, coefficient)
    found = long_run(series, 1)
    reach = scipy.stats.t.ppf(0.975, found["freedom"])
    return found | {"half_width": reach * numpy.sqrt(found["variance"] / n)}


def trend_case(random, n, coefficient):
    series = correlated(random, n, coefficient) + 0.01 * numpy.arange(n)
    slope, level = numpy.polyfit(numpy.arange(n), series, 1)
    found = long_run(series - level - slope * numpy.arange(n), 2)
    spread = n * (n * n - 1) / 12
    reach = scipy.stats.t.ppf(0.975, found["freedom"])
    return found | {
        "series": series.tolist(),
        "slope": slope,
        "half_width": reach * numpy.sqrt(found["variance"] / spread),
    }


def main():
    random = numpy.random.default_rng(20_261_123)
    lengths = [(2, 0), (3, 0), (5, 0.5), (16, 0), (16, 0.9), (40, 0.5), (60, -0.6), (117, 0.8), (300, 0.95), (640, 0.3)]
    json.dump(
        {
            "versions": {
                "python": platform.python_version(),
                "numpy": numpy.__version__,
                "scipy": scipy.__version__,
            },
            "means": [mean_case(random, n, coefficient) for n, coefficient in lengths],
            "trends": [trend_case(random, n, coefficient) for n, coefficient in lengths[3:]],
        },
        sys.stdout,
    )
    print()


if __name__ == "__main__":
    main()
