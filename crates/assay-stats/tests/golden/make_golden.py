"""Golden values for assay-stats from independent libraries.

Run in a virtual environment with the packages that golden.json names under "versions":
    python make_golden.py > golden.json
"""

import itertools
import json
import platform
import sys

import arch
import mpmath
import numpy
import scipy
import scipy.integrate
import scipy.optimize
import scipy.special
import scipy.stats
import statsmodels
import statsmodels.tsa.stattools as tsa
from arch.bootstrap import optimal_block_length

LEVELS = [1e-10, 1e-4, 0.01, 0.2, 0.5, 0.8, 0.95, 0.975, 0.999, 1 - 1e-9]


def rows(function, *axes):
    """One row for each combination of arguments: the arguments, then the results."""
    found = []
    for arguments in itertools.product(*axes):
        result = function(*arguments)
        values = result if isinstance(result, (tuple, list)) else (result,)
        found.append([float(value) for value in (*arguments, *values)])
    return found


def ln_gamma(x):
    return mpmath.log(mpmath.gamma(mpmath.mpf(x)))


def gamma_tails(shape, factor):
    x = shape * factor
    return x, scipy.special.gammainc(shape, x), scipy.special.gammaincc(shape, x)


def beta_tails(a, b, x):
    return scipy.special.betainc(a, b, x), scipy.special.betaincc(a, b, x)


def normal(z):
    return scipy.stats.norm.cdf(z), scipy.stats.norm.sf(z)


def student(t, freedom):
    """By mpmath, because SciPy's value keeps only ten digits next to 0."""
    t, freedom = mpmath.mpf(t), mpmath.mpf(freedom)
    beyond = mpmath.betainc(freedom / 2, 0.5, 0, freedom / (freedom + t * t), regularized=True) / 2
    return (1 - beyond, beyond) if t > 0 else (beyond, 1 - beyond)


def binomial(trials, chance, quantile):
    k = int(scipy.stats.binom.ppf(quantile, trials, chance))
    law = scipy.stats.binom(trials, chance)
    return k, law.cdf(k), law.sf(k)


def quantile_ranks(n, quantile):
    """Ranks by SciPy's quantile test on the numbers 1..n; 0 where it gives no bound."""
    test = scipy.stats.quantile_test(numpy.arange(1, n + 1), q=0, p=quantile)
    interval = test.confidence_interval(0.95)
    return tuple(0 if numpy.isnan(end) else end for end in interval)


def autoregression(random, n, coefficient):
    values = [random.standard_normal() / numpy.sqrt(1 - coefficient**2)]
    for _ in range(n - 1):
        values.append(coefficient * values[-1] + random.standard_normal())
    return numpy.round(100 + 5 * numpy.array(values), 4)


def described(series):
    return {
        "series": series.tolist(),
        "moments": [float(series.mean()), float(series.var(ddof=1))],
        "autocovariances": tsa.acovf(series, nlag=3, fft=False).tolist(),
        "block_length": float(optimal_block_length(series)["stationary"].iloc[0]),
    }


def closed_exceeds(servers, customers, time):
    """Erlang wait and exponential service of rate 1, by numerical integration of their convolution."""
    if customers <= servers:
        return mpmath.exp(-time)
    ahead = customers - servers
    wait = lambda w: mpmath.exp(
        ahead * mpmath.log(servers) + (ahead - 1) * mpmath.log(w) - servers * w - mpmath.loggamma(ahead)
    )
    mode = min(mpmath.mpf(ahead) / servers, mpmath.mpf(time) / 2)
    points = sorted({mpmath.mpf(0), mode / 2, mode, (mode + time) / 2, mpmath.mpf(time)})
    both = mpmath.quad(lambda w: wait(w) * mpmath.exp(w - time), points)
    return both + mpmath.gammainc(ahead, servers * time, regularized=True)


def closed_quantile(servers, customers, quantile):
    scale = max(1.0, customers / servers)
    excess = lambda t: float(closed_exceeds(servers, customers, t) - (1 - quantile))
    return scipy.optimize.brentq(excess, 1e-9 * scale, 40 * scale, xtol=1e-13, rtol=1e-13)


def open_steady_state(servers, utilization):
    """Shares of time with 0, 1, 2, ... customers, from the balance of flows between neighbouring states."""
    arrival = servers * utilization
    shares = [1.0]
    while len(shares) < 60 + 4 * servers or shares[-1] > 1e-17 * max(shares):
        shares.append(shares[-1] * arrival / min(len(shares), servers))
    shares = numpy.array(shares)
    return shares / shares.sum()


def open_queue(servers, utilization):
    """Waiting share, mean wait and the 0.5, 0.99 and 0.9999 quantiles of the response time at service rate 1."""
    shares = open_steady_state(servers, utilization)
    waiting = shares[servers:].sum()
    queue = (numpy.arange(len(shares)) - servers).clip(0)
    mean_wait = (shares * queue).sum() / (servers * utilization)

    def exceeds(time):
        """The arrival that finds j others waits for j - c + 1 departures, then is served."""
        total = shares[:servers].sum() * numpy.exp(-time)
        ahead = numpy.arange(1, len(shares) - servers + 1)
        waits = scipy.stats.gamma(ahead, scale=1 / servers).sf(time)
        if servers == 1:
            served = scipy.stats.gamma(ahead + 1).sf(time)
            return total + (shares[servers:] * served).sum()
        power = ahead * numpy.log(servers / (servers - 1)) - time
        cdf = scipy.special.gammainc(ahead, (servers - 1) * time)
        service = numpy.exp(power + numpy.log(numpy.maximum(cdf, 1e-300)))
        return total + (shares[servers:] * (waits + service)).sum()

    quantiles = [
        scipy.optimize.brentq(lambda t: exceeds(t) - (1 - q), 1e-9, 2000, xtol=1e-12)
        for q in (0.5, 0.99, 0.9999)
    ]
    return (waiting, mean_wait, *quantiles)


def chi_square_case(random, cells, total):
    weights = random.random(cells) + 0.2
    observed = random.multinomial(total, weights / weights.sum())
    expected = total * weights / weights.sum()
    assert expected.min() >= 5
    test = scipy.stats.chisquare(observed, expected)
    return {
        "observed": observed.tolist(),
        "weights": weights.tolist(),
        "expect": [float(test.statistic), float(test.pvalue)],
    }


def kolmogorov_smirnov_case(random, n):
    values = numpy.sort(random.random(n) ** 1.1)
    test = scipy.stats.kstest(values, "uniform", method="exact")
    return {"values": values.tolist(), "expect": [float(test.statistic), float(test.pvalue)]}


def line_case(random, n):
    x = numpy.round(random.random(n) * 10, 4)
    y = numpy.round(3 + 0.7 * x + random.standard_normal(n), 4)
    fit = scipy.stats.linregress(x, y)
    reach = scipy.stats.t.ppf(0.975, n - 2)
    return {
        "x": x.tolist(),
        "y": y.tolist(),
        "expect": [float(value) for value in (fit.slope, reach * fit.stderr, fit.intercept)],
    }


def share_limits(trials, hits):
    interval = scipy.stats.binomtest(hits, trials).proportion_ci(0.95, "exact")
    return interval.low, interval.high


def main():
    mpmath.mp.dps = 40
    random = numpy.random.default_rng(20_261_121)
    shapes = [0.05, 0.5, 1.0, 3.7, 14.9, 15.1, 120.0, 1e4, 1e6]
    json.dump(
        {
            "versions": {
                "python": platform.python_version(),
                "numpy": numpy.__version__,
                "scipy": scipy.__version__,
                "mpmath": mpmath.__version__,
                "statsmodels": statsmodels.__version__,
                "arch": arch.__version__,
            },
            "ln_gamma": rows(ln_gamma, [1e-8, 0.1, 0.5, 1.5, 2.5, 7.3, 14.0, 15.0, 16.2, 300.5, 1e7, 1e15]),
            "incomplete_gamma": rows(gamma_tails, shapes, [0.01, 0.5, 0.9, 0.999, 1.0, 1.003, 1.2, 3.0]),
            "incomplete_beta": rows(
                beta_tails, [0.2, 0.5, 3.0, 40.0, 2e4], [0.5, 1.0, 7.5, 900.0, 1e6], [1e-6, 0.02, 0.3, 0.5, 0.93]
            ),
            "normal": rows(normal, [-30.0, -8.0, -3.0, -1.0, -1e-9, 0.0, 0.4, 1.7, 2.0, 5.5, 12.0]),
            "normal_quantile": rows(scipy.stats.norm.ppf, [1e-300, 1e-40, *LEVELS]),
            "student": rows(student, [-40.0, -3.0, -0.2, 0.0, 1e-6, 1.0, 2.5, 9.0, 1e4], [0.7, 1.0, 2.0, 5.5, 30.0, 1e5]),
            "student_quantile": rows(scipy.stats.t.ppf, LEVELS, [0.7, 1.0, 2.0, 3.3, 12.0, 250.0, 1e6]),
            "chi_square_quantile": rows(scipy.stats.chi2.ppf, LEVELS, [1.0, 2.0, 7.0, 100.0, 1e5]),
            "binomial": rows(binomial, [1, 17, 1000, 10**6], [0.001, 0.3, 0.5, 0.99], [1e-6, 0.1, 0.5, 0.975]),
            "kolmogorov": rows(scipy.stats.kstwobign.sf, [0.1, 0.3, 0.6, 0.9, 1.0, 1.1, 1.36, 2.0, 4.0]),
            "kolmogorov_smirnov_exact": rows(
                lambda n, scaled: (scaled / n**0.5, scipy.stats.kstwo.sf(scaled / n**0.5, n)),
                [2, 5, 10, 37, 100],
                [0.5, 0.7, 1.0, 1.36, 1.4],
            ),
            "kolmogorov_smirnov_large": rows(
                lambda n, scaled: (scaled / n**0.5, scipy.stats.kstwo.sf(scaled / n**0.5, n)),
                [101, 140, 500, 3000],
                [0.5, 0.7, 1.0, 1.36, 1.7, 2.2, 3.0],
            ),
            "quantile_ranks": rows(quantile_ranks, [5, 10, 40, 199, 1000, 4321], [0.1, 0.5, 0.75, 0.9, 0.99]),
            "share_limits": rows(share_limits, [10, 200, 5000], [0, 10]),
            "series": [
                described(autoregression(random, n, coefficient))
                for n, coefficient in [(40, 0.0), (150, 0.5), (300, 0.8), (300, -0.4), (500, 0.9)]
            ],
            "closed_exceeds": rows(closed_exceeds, [1, 2, 8], [1, 3, 9, 40], [0.05, 0.9, 4.0, 11.0]),
            "closed_quantile": rows(closed_quantile, [1, 2, 16], [1, 17, 64, 400], [0.5, 0.99, 0.9999]),
            "open_queue": rows(open_queue, [1, 2, 5, 32], [0.05, 0.5, 0.8, 0.95]),
            "chi_square_fit": [chi_square_case(random, cells, total) for cells, total in [(2, 60), (9, 400), (60, 3000)]],
            "kolmogorov_smirnov_fit": [kolmogorov_smirnov_case(random, n) for n in (6, 30, 90)],
            "line": [line_case(random, n) for n in (3, 12, 80)],
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
