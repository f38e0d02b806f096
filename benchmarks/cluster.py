#!/usr/bin/env python3
"""Many hosts at once, as processes of this machine: the skew of starts, one host against a plain run, and how soon a loss is noticed.

With --namespaces, as root: three hosts with addresses and clocks of their own, whose true offsets are known, reached through a shell over TCP.
"""

import json
import os
import signal
import statistics
import subprocess
import time

from bench import histogram, host_costs, hosts_bars, hosts_rig, namespaces, ray_hosts, ray_refusals, report

BAR_SKEW_MEDIAN_MS, BAR_SKEW_MAX_MS, BAR_ONE, BAR_P99, BAR_LOSS_S = 0.5, 5.0, 0.99, 1.02, 3.5


def measured(given, *words, environment=None):
    """A run's JSON."""
    command = [given.assay, "run", "randread", given.directory, "--size", "256MiB", "--keep", "--json", "--quiet", "--store", given.store, *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, env=environment, check=False)
    return json.loads(done.stdout)


def iops(run):
    """I/Os a second of the run's workload."""
    measurement = run["runs"][0]["measurement"]
    ios = sum(result["ios"] for stream in measurement["streams"] for result in stream["operations"].values())
    return ios / measurement["elapsed_ns"] * 1e9


def starts(given, hosts, outstanding):
    """Skew and its doubt of repeated starts, ms."""
    words = ["--hosts", f"local:{hosts}", "--time", "200ms", "--interval", "100ms", "--queue-depth", str(outstanding)]
    found = [measured(given, *words)["cluster"] for _ in range(given.starts)]
    return [(one["start"]["skew_ns"] / 1e6, one["start"]["uncertainty_ns"] / 1e6) for one in found]


def p99_us(run):
    """The tail of the run's reads."""
    buckets = histogram.decode(run["runs"][0]["measurement"]["streams"][0]["operations"]["read"]["service"])
    return histogram.quantile_ns(buckets, 0.99) / 1e3


def against_plain(given, option="local:1", environment=None):
    """Of one host under `--hosts` against a plain run before and after it: ratios of IOPS, and of p99."""
    words = ["--time", f"{given.seconds:.0f}s", "--warm-up", "1s", "--seed", "7"]
    plain = [measured(given, *words)]
    ratios = {"iops": [], "p99": []}
    for _ in range(given.repeats):
        one = measured(given, *words, "--hosts", option, environment=environment)
        plain.append(measured(given, *words))
        ratios["iops"].append(iops(one) / statistics.mean(iops(run) for run in plain[-2:]))
        ratios["p99"].append(p99_us(one) / statistics.mean(p99_us(run) for run in plain[-2:]))
    return ratios


def one_rows(ratios):
    """Rows of the table for it."""
    shown = {name: f"{statistics.median(found):.3f} ({min(found):.3f} … {max(found):.3f})" for name, found in ratios.items()}
    return [["one host against a plain run, IOPS", shown["iops"], report.bar(statistics.median(ratios["iops"]) >= BAR_ONE, "≥ 0.99")],
            ["one host against a plain run, p99", shown["p99"], report.bar(statistics.median(ratios["p99"]) <= BAR_P99, "≤ 1.02")]]


def children(parent):
    """Processes that another one started."""
    done = subprocess.run(["ps", "-o", "pid=", "--ppid", str(parent)], stdout=subprocess.PIPE, text=True, check=False)
    return [int(word) for word in done.stdout.split()]


def noticed_s(given, how):
    """From what happens to a host until its loss is noticed, s, and the exit code."""
    command = [given.assay, "run", "randread", given.directory, "--size", "256MiB", "--json", "--quiet", "--store", given.store,
               "--time", "1min", "--hosts", "local:2"]
    driver = subprocess.Popen(command, stdout=subprocess.PIPE)
    time.sleep(4)
    begun = time.monotonic()
    os.kill(children(driver.pid)[1], how)
    out, _ = driver.communicate()
    ended = time.monotonic()
    cluster = json.loads(out)["cluster"]
    return {"noticed_s": ended - begun, "code": driver.returncode, "reason": cluster["hosts"][1]["lost"]["reason"]}


def on_namespaces(given):
    """The bars that need other clocks and a cable."""
    reason = ray_hosts.missing() if given.ray else namespaces.missing()
    if reason:
        print(f"skipped: {reason}")
        return
    with (ray_hosts if given.ray else namespaces).Hosts([0, 1000, 50000]) as hosts:
        if given.costs:
            rows, raw = host_costs.rows(given, hosts)
            report.keep(given, "cluster-costs-ray" if given.ray else "cluster-costs", raw)
            report.table(["when", "processes of one host", "of one processor", "memory (PSS)"], rows)
            return
        if given.refusals:
            found = ray_refusals.measured(given, hosts)
            report.keep(given, "cluster-refusals-ray", {"refusals": found})
            report.table(["what is wrong", "refused after, s", "exit code", "said", "bar"], ray_refusals.rows(found, report))
            return
        if given.one:
            one(given, hosts.names[0] if given.ray else f"ssh:{hosts.names[0]}", hosts.environment(given.assay))
            return
        rows, raw = hosts_bars.rows(given, hosts, report)
    report.keep(given, "cluster-ray" if given.ray else "cluster-namespaces", raw)
    report.table(["what", "measured", "bar"], rows)


def one(given, option="local:1", environment=None, kept=None):
    """One host against a plain run, as a table of its own."""
    ratios = against_plain(given, option, environment)
    report.keep(given, kept or f"cluster-one-{option.partition(':')[0]}", {"option": option, "ratios": ratios})
    report.table(["what", "measured", "bar"], one_rows(ratios))


def main():
    parser = report.options(__doc__, seconds=5.0)
    parser.add_argument("--starts", type=int, default=20, help="starts a case")
    parser.add_argument("--store", default="cluster-runs", help="where the runs are kept")
    parser.add_argument("--namespaces", action="store_true", help="on hosts of namespaces; needs root")
    parser.add_argument("--ray", action="store_true", help="with --namespaces: the hosts are nodes of a Ray cluster, whose `ray` is next to this Python")
    parser.add_argument("--costs", action="store_true", help="with --namespaces: what the processes on a host cost it, and nothing else")
    parser.add_argument("--one", action="store_true", help="one host against a plain run, and nothing else")
    parser.add_argument("--refusals", action="store_true", help="with --namespaces --ray: how soon what cannot measure together is refused, and nothing else")
    parser.add_argument("--calibrations", type=int, default=0, help="calibrations of two hosts on a device of the rig, and nothing else")
    parser.add_argument("--losses", type=int, default=3, help="how often a host is lost in each of three ways, with --namespaces")
    parser.add_argument("--deaths", type=int, default=10, help="how often the driver is killed, with --namespaces")
    given = parser.parse_args()
    if given.namespaces:
        on_namespaces(given)
        return
    if given.one and given.rig:
        with hosts_rig.directory(given.rig) as place:
            given.directory = str(place)
            one(given, kept="cluster-one-rig")
        return
    if given.one:
        one(given)
        return
    if given.calibrations:
        found = hosts_rig.calibrations(given)
        report.keep(given, "cluster-calibrations", {"truth_iops": hosts_rig.TRUTH_IOPS, "calibrations": found})
        report.table(["what", "measured", "bar"], hosts_rig.rows(found, report))
        return
    skews = {name: starts(given, hosts, outstanding) for name, hosts, outstanding in (("3 hosts, 1 outstanding", 3, 1), ("3 hosts, 32 outstanding", 3, 32))}
    ratios = against_plain(given)
    losses = {name: noticed_s(given, how) for name, how in (("killed", signal.SIGKILL), ("stopped", signal.SIGSTOP))}
    report.keep(given, "cluster", {"skews_ms": skews, "one_host": ratios, "losses": losses})
    rows = []
    for name, found in skews.items():
        middle, most = statistics.median(skew for skew, _ in found), max(skew for skew, _ in found)
        doubt = statistics.median(doubt for _, doubt in found)
        rows.append([f"skew, {name}, ms", f"median {middle:.2f}, most {most:.2f} (± {doubt:.2f})",
                     report.bar(middle <= BAR_SKEW_MEDIAN_MS and most <= BAR_SKEW_MAX_MS, "≤ 0.5, ≤ 5")])
    rows += one_rows(ratios)
    for name, loss in losses.items():
        met = loss["noticed_s"] <= BAR_LOSS_S + 1 and loss["code"] == 3
        rows.append([f"a host is {name}, until the result is printed, s", f"{loss['noticed_s']:.1f}, exit code {loss['code']}: {loss['reason']}",
                     report.bar(met, "noticed ≤ 3.5 s, printed a second later")])
    report.table(["what", "measured", "bar"], rows)


if __name__ == "__main__":
    main()
