"""Golden values for change points, scaling and closed networks from independent libraries.

Run in a virtual environment with the packages that change.json names under "versions":
    python make_change.py > change.json
"""

import json
import platform
import sys
from fractions import Fraction

import numpy
import ruptures
import scipy
import scipy.optimize


def correlated(random, n, coefficient):
    shocks = random.normal(size=n)
    series = [shocks[0]]
    for shock in shocks[1:]:
        series.append(coefficient * series[-1] + (1 - coefficient**2) ** 0.5 * shock)
    return numpy.array(series)


def pelt_case(random, n, levels, coefficient, penalty, shortest):
    """The segmentation by ruptures with every place allowed (jump 1)."""
    stretch = -(-n // len(levels))
    series = numpy.repeat(levels, stretch)[:n] + correlated(random, n, coefficient)
    model = ruptures.Pelt(model="l2", min_size=shortest, jump=1).fit(series)
    ends = model.predict(pen=penalty)
    exact = ruptures.Dynp(model="l2", min_size=shortest, jump=1).fit(series)
    if len(ends) > 1:
        assert exact.predict(n_bkps=len(ends) - 1) == ends
    return {"series": series.tolist(), "penalty": penalty, "shortest": shortest, "changes": ends[:-1]}


def law(nodes, of_one, contention, coherency):
    return of_one * nodes / (1 + contention * (nodes - 1) + coherency * nodes * (nodes - 1))


def scaling_case(random, truth, nodes, noise):
    nodes = numpy.array(nodes, dtype=float)
    seen = law(nodes, *truth) * (1 + noise * random.normal(size=len(nodes)))
    found, covariance = scipy.optimize.curve_fit(
        law, nodes, seen, p0=[seen[0], 0.01, 1e-4], bounds=([1e-12, 0, 0], numpy.inf), xtol=1e-15, ftol=1e-15, gtol=1e-15
    )
    assert (found[1:] > 1e-6).all(), "the border has no covariance"
    return {
        "points": [list(pair) for pair in zip(nodes.tolist(), seen.tolist())],
        "parameters": found.tolist(),
        "standard_errors": numpy.sqrt(numpy.diag(covariance)).tolist(),
    }


def network_row(demands, customers, think):
    """Throughput by the convolution of Buzen in exact fractions; thinking is a station without queue."""
    whole = [Fraction(demand).limit_denominator(10**6) for demand in demands]
    pause = Fraction(think).limit_denominator(10**6)
    constants, power = [Fraction(1)], Fraction(1)
    for count in range(1, customers + 1):
        power *= pause / count
        constants.append(power)
    for demand in whole:
        for count in range(1, customers + 1):
            constants[count] += demand * constants[count - 1]
    return {
        "demands_s": demands,
        "customers": customers,
        "think_time_s": think,
        "throughput_per_s": float(constants[customers - 1] / constants[customers]),
    }


def main():
    random = numpy.random.default_rng(20_261_122)
    json.dump(
        {
            "versions": {
                "python": platform.python_version(),
                "numpy": numpy.__version__,
                "scipy": scipy.__version__,
                "ruptures": "1.1.10",
            },
            "pelt": [
                pelt_case(random, n, levels, coefficient, penalty, shortest)
                for n, levels, coefficient, penalty, shortest in [
                    (60, [0, 3], 0.0, 12.0, 2),
                    (120, [0, 2, -1, 4], 0.0, 14.0, 1),
                    (200, [0, 1, 0], 0.5, 16.0, 5),
                    (300, [0, 0, 1.5, 1.5, 0.5], 0.3, 10.0, 10),
                    (150, [0], 0.8, 6.0, 4),
                    (240, [5, 1], 0.0, 500.0, 3),
                ]
            ],
            "scalability": [
                scaling_case(random, truth, nodes, noise)
                for truth, nodes, noise in [
                    ((1000, 0.03, 0.0004), [1, 2, 4, 8, 16, 32, 64], 0.01),
                    ((693597, 0.05, 0.002), [1, 2, 4, 6, 8, 12, 16], 0.005),
                    ((50, 0.3, 0.01), [1, 1, 2, 2, 3, 4, 8, 8], 0.02),
                ]
            ],
            "network": [
                network_row(demands, customers, think)
                for demands in ([0.002, 0.004], [0.001, 0.001, 0.003, 0.0005])
                for customers in (1, 4, 16, 60)
                for think in (0.0, 0.01)
            ],
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
