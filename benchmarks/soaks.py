#!/usr/bin/env python3
"""How well `assay soak` separates steady traces of twenty-one kinds from others, compared with exact segmentation (PELT of the package ruptures).

Build first: cargo build --release --locked -p assay-stats --example soak_traces. Needs numpy, scipy and ruptures."""

import argparse
import json
import pathlib
import struct
import subprocess
import tempfile
from collections import Counter, defaultdict

import numpy
import ruptures
from scipy.signal import lfilter

HOUR = 3600
LENGTH = 4 * HOUR
WHOLE, ENDS, NEVER = (True, True), (False, True), (False, False)
SAYS = ("steady throughout", "steady at the end", "undecided", "never steady")


class Traces:
    """Draws traces: relative levels and what is true of them; None where the truth is between two answers."""

    def __init__(self, seed):
        self.draw = numpy.random.default_rng(seed)

    def noise(self, length, coefficient, heavy=False):
        shocks = self.draw.standard_t(3, length) / 3**0.5 if heavy else self.draw.standard_normal(length)
        first = coefficient * self.draw.standard_normal()
        return lfilter([(1 - coefficient**2) ** 0.5], [1, -coefficient], shocks, zi=[first])[0]

    def noisy(self, levels, coefficients=(0.1, 0.85), sizes=(0.005, 0.02), heavy=False):
        size, coefficient = self.draw.uniform(*sizes), self.draw.uniform(*coefficients)
        return levels * (1 + size * self.noise(len(levels), coefficient, heavy))

    def stationary(self, hours):
        return self.noisy(numpy.ones(int(hours * HOUR)), (0, 0.95), (0.005, 0.04)), WHOLE

    def heavy(self):
        return self.noisy(numpy.ones(LENGTH), (0, 0.95), (0.01, 0.03), heavy=True), WHOLE

    def stalls(self):
        levels, at = numpy.ones(LENGTH), self.draw.exponential(120)
        while at < LENGTH:
            levels[int(at):int(at) + self.draw.integers(1, 6)] = self.draw.uniform(0.05, 0.5)
            at += self.draw.exponential(120)
        return self.noisy(levels), WHOLE

    def long_memory(self):
        return self.noisy(numpy.ones(LENGTH), (0.99, 0.998), (0.02, 0.02)), WHOLE

    def wave(self, periods, truth):
        time = numpy.arange(LENGTH) / self.draw.uniform(*periods) + self.draw.uniform()
        return self.noisy(1 + self.draw.uniform(0.03, 0.1) * numpy.sin(2 * numpy.pi * time)), truth

    def saw(self, periods, truth):
        time = numpy.arange(LENGTH) / self.draw.uniform(*periods)
        return self.noisy(1 - self.draw.uniform(0.05, 0.3) * (time % 1)), truth

    def drift(self):
        an_hour = self.draw.uniform(0.005, 0.03) * self.draw.choice([-1, 1])
        return self.noisy(1 + an_hour * numpy.arange(LENGTH) / HOUR, (0, 0.95)), NEVER

    def step(self, sizes, places=(0.2, 0.7), truth=ENDS, signs=(-1, 1)):
        levels = numpy.ones(LENGTH)
        levels[int(self.draw.uniform(*places) * LENGTH):] += self.draw.uniform(*sizes) * self.draw.choice(signs)
        return self.noisy(levels, (0, 0.9)), truth

    def dip(self):
        levels, at = numpy.ones(LENGTH), int(self.draw.uniform(0.25, 0.6) * LENGTH)
        levels[at:at + int(self.draw.uniform(300, 1000))] -= self.draw.uniform(0.05, 0.3)
        return self.noisy(levels), ENDS

    def approach(self, places, depths, times):
        """A new level that is reached more and more slowly: settled within 1% of it."""
        begin, depth, tau = self.draw.uniform(*places) * LENGTH, self.draw.uniform(*depths), self.draw.uniform(*times)
        since = numpy.maximum(numpy.arange(LENGTH) - begin, 0)
        settled = begin + tau * numpy.log(abs(depth) / (1 - max(depth, 0)) / 0.01)
        end = 1 - depth if depth > 0 else 1.0
        start = 1.0 if depth > 0 else 1 + depth
        levels = end + (start - end) * numpy.exp(-since / tau)
        return self.noisy(levels), ENDS if settled < 0.65 * LENGTH else None

    def ramp(self):
        gained = self.draw.uniform(0.05, 0.4)
        return self.noisy(1 - gained + gained * numpy.arange(LENGTH) / LENGTH), NEVER

    def walk(self):
        levels = 1 + numpy.cumsum(self.draw.standard_normal(LENGTH)) * self.draw.uniform(0.0006, 0.002)
        return self.noisy(numpy.maximum(levels, 0.2)), NEVER

    def regimes(self):
        levels, at, high = numpy.ones(LENGTH), 0, True
        while at < LENGTH:
            length = 1 + int(self.draw.exponential(600))
            levels[at:at + length] = 1 if high else 0.9
            at, high = at + length, not high
        return self.noisy(levels), NEVER

    def kinds(self):
        return {
            "stationary, 4 h": (40, lambda: self.stationary(4)), "stationary, 1 h": (20, lambda: self.stationary(1)),
            "stationary, 12 h": (12, lambda: self.stationary(12)), "heavy-tailed noise": (20, self.heavy),
            "stalls of 1 to 5 s": (20, self.stalls), "memory of 100 to 500 s": (16, self.long_memory),
            "short waves": (14, lambda: self.wave((7, 110), WHOLE)), "short saw-teeth": (12, lambda: self.saw((25, 100), WHOLE)),
            "long waves": (14, lambda: self.wave((1200, 3600), NEVER)), "long saw-teeth": (14, lambda: self.saw((500, 2400), NEVER)),
            "drift of 0.5 to 3%/h": (40, self.drift), "steps of 2 to 5%": (20, lambda: self.step((0.02, 0.05))),
            "steps of 5 to 10%": (20, lambda: self.step((0.05, 0.1))), "dips of 5 to 17 min": (12, self.dip),
            "late steps": (12, lambda: self.step((0.05, 0.2), (0.88, 0.95), NEVER)),
            "cliffs": (14, lambda: self.step((0.3, 0.8), (0.05, 0.7), signs=(-1,))),
            "exponential cliffs": (14, lambda: self.approach((0.05, 0.4), (0.3, 0.7), (120, 1200))),
            "warm-ups": (20, lambda: self.approach((0, 0), (-0.5, -0.1), (60, 1500))), "ramps": (10, self.ramp),
            "random walks": (14, self.walk), "two regimes": (12, self.regimes),
        }


def segmented(values):
    """What exact segmentation of means of a minute says, changes below 1% taken out, the smallest first."""
    size = 60 if len(values) > HOUR else 40
    means = values[len(values) % size:].reshape(-1, size).mean(1)
    spread = numpy.median(numpy.abs(means[:-2] - 2 * means[1:-1] + means[2:])) / (0.67449 * 6**0.5)
    fitted = ruptures.KernelCPD(kernel="linear", min_size=3).fit(means[:, None])
    changes = fitted.predict(pen=3 * spread**2 * numpy.log(len(means)))[:-1]
    while changes:
        levels = [part.mean() for part in numpy.split(means, changes)]
        gaps = [abs(two / one - 1) for one, two in zip(levels, levels[1:])]
        if min(gaps) >= 0.01:
            break
        del changes[gaps.index(min(gaps))]
    return not changes, 4 * (len(means) - (changes or [0])[-1]) >= len(means)


def soaked(program, traces):
    """What `assay soak` says of each trace, and how often its watch noticed a change."""
    with tempfile.NamedTemporaryFile() as file:
        for _, _, values in traces:
            file.write(struct.pack("<q", len(values)) + values.astype("<f8").tobytes())
        file.flush()
        lines = subprocess.run([program, file.name], check=True, capture_output=True, text=True).stdout.splitlines()
    said = [json.loads(line) for line in lines]
    word = {"long memory": SAYS[2], "never": SAYS[3]}
    return [(word.get(one["state"], SAYS[0] if one["since_s"] == 0 else SAYS[1]), len(one["noticed_s"])) for one in said]


def answer(kind, word):
    """Both answers of `assay soak`; that long memory is undecided is right."""
    return WHOLE if (kind, word) == ("memory of 100 to 500 s", SAYS[2]) else {SAYS[0]: WHOLE, SAYS[1]: ENDS}.get(word, NEVER)


def scores(said, truths):
    """Cells of precision, recall, F1, wrong and missed of one question."""
    right, wrong, missed = (sum(pair == wanted for pair in zip(said, truths)) for wanted in ((True, True), (True, False), (False, True)))
    return f"{right / (right + wrong):.3f} | {right / (right + missed):.3f} | {2 * right / (2 * right + wrong + missed):.3f} | {wrong}, {missed}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", default="target/release/examples/soak_traces", type=pathlib.Path)
    given = parser.parse_args()
    drawn = [(kind, *make()) for kind, (count, make) in Traces(given.seed).kinds().items() for _ in range(count)]
    traces = [(kind, truth, numpy.maximum(8000 * levels, 1)) for kind, levels, truth in drawn if truth]
    said = soaked(given.program, traces)
    cells, alarms, hours = defaultdict(Counter), Counter(), Counter()
    for (kind, truth, values), (word, noticed) in zip(traces, said):
        cells[kind][word] += 1
        if truth == WHOLE:
            alarms[kind], hours[kind] = alarms[kind] + noticed, hours[kind] + len(values) / HOUR
    print(f"seed {given.seed}, {len(traces)} traces\n\n| kind | traces | {' | '.join(SAYS)} | alarms without a change |\n|{'---|' * 7}")
    for kind, counts in cells.items():
        shown = f"{alarms[kind]} in {hours[kind]:.0f} h" if kind in hours else "–"
        print(f"| {kind} | {counts.total()} | {' | '.join(str(counts[word]) for word in SAYS)} | {shown} |")
    print(f"\n| rule | question | precision | recall | F1 | wrong, missed |\n|{'---|' * 6}")
    ours = [answer(kind, word) for (kind, _, _), (word, _) in zip(traces, said)]
    for name, answers in (("assay soak", ours), ("segmentation, 1%", [segmented(values) for _, _, values in traces])):
        for which, question in enumerate(SAYS[:2]):
            shown = [one[which] for one in answers]
            print(f"| {name} | {question} | {scores(shown, [truth[which] for _, truth, _ in traces])} |")


if __name__ == "__main__":
    main()
