"""Alternating repeats: all sides once a repeat, their order rotated; a repeat that others disturbed is done again."""

import statistics
import sys

from . import machine


class Plan:
    """How often, and how quiet the machine must be."""

    def __init__(self, options, device=None):
        self.repeats = options.repeats
        self.limit_cores = options.quiet
        self.patience_s = options.patience
        self.extra = options.extra
        self.device = device


def alternate(plan, sides):
    """Runs `sides`, a dict of name to function, until enough repeats were quiet; all repeats are kept and marked."""
    done, names = [], list(sides)
    while len(done) < plan.repeats + plan.extra and _quiet(done) < plan.repeats:
        before = machine.wait_for_quiet(plan.limit_cores, plan.patience_s, plan.device)
        turn = len(done) % len(names)
        results = {}
        for name in names[turn:] + names[:turn]:
            look = machine.Others(plan.device)
            results[name] = sides[name]()
            results[name]["others"] = look.since(results[name].get("ios", 0) if plan.device else 0)
        loudest = max(result["others"]["cores"] for result in results.values())
        done.append({"before": before, "quiet": loudest <= plan.limit_cores, "sides": results})
        print(f"  repeat {len(done)}: others used up to {loudest:.2f} cores", file=sys.stderr, flush=True)
    return done


def _quiet(done):
    return sum(repeat["quiet"] for repeat in done)


def chosen(done):
    """The quiet repeats, or all where fewer than three were quiet; and how to call them."""
    quiet = [repeat for repeat in done if repeat["quiet"]]
    if len(quiet) >= 3:
        return quiet, f"{len(quiet)} quiet"
    return done, f"{len(done)}, {len(quiet)} of them quiet"


def median(done, side, figure):
    """The median of a figure of one side."""
    return statistics.median(figure(repeat["sides"][side]) for repeat in done)


class Ratio:
    """Ratios of two sides, formed in each repeat."""

    def __init__(self, done, above, below, figure):
        self.values = sorted(figure(repeat["sides"][above]) / figure(repeat["sides"][below]) for repeat in done)
        self.median = statistics.median(self.values)

    def __str__(self):
        return f"{self.median:.2f} ({self.values[0]:.2f} … {self.values[-1]:.2f})"
