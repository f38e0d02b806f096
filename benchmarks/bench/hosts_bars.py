"""The bars of several hosts, measured on hosts of namespaces, whose true clocks are known."""

import json
import os
import random
import re
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

LOST_S, GONE_S = 3.5, 6.0


def is_there(process):
    """Whether a process still runs; one that nobody has waited for does not."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rsplit(") ", 1)[1][0] != "Z"


def plan(given, *words):
    """A command line of `assay run`."""
    return [given.assay, "run", "randread", given.directory, "--size", "64MiB", "--json", "--quiet", "--store", given.store, *words]


def measured(given, hosts, *words):
    """What `assay run --json` says on all hosts."""
    command = plan(given, "--hosts", hosts.option(), *words)
    done = subprocess.run(command, stdout=subprocess.PIPE, env=hosts.environment(given.assay), check=False)
    return json.loads(done.stdout)


def starts(given, hosts, count, outstanding):
    """Of repeated starts: true skew, and whether what is printed holds it; true errors of offsets, and whether their intervals hold them."""
    found = []
    for _ in range(count):
        words = ["--time", "200ms", "--interval", "100ms", "--queue-depth", str(outstanding), "--keep"]
        cluster = measured(given, hosts, *words)["cluster"]
        true_ns, errors_ns, held = [], [], []
        for host, offset_s in zip(cluster["hosts"], hosts.offsets_s):
            error_ns = host["clock"]["offset_ns"] - offset_s * 10**9
            errors_ns.append(error_ns)
            held.append(abs(error_ns) <= host["clock"]["uncertainty_ns"])
            # What was read on the host's clock was taken back with the estimate instead of the truth.
            true_ns.append(host["start_error_ns"] + error_ns)
        skew_ns, start = max(true_ns) - min(true_ns), cluster["start"]
        holds = abs(start["skew_ns"] - skew_ns) <= start["uncertainty_ns"] + 10_000 if queue_depth == 1 else None
        found.append({"skew_ms": skew_ns / 1e6, "printed_ms": start["skew_ns"] / 1e6, "doubt_ms": start["uncertainty_ns"] / 1e6,
                      "skew_held": holds, "errors_us": [error / 1e3 for error in errors_ns], "held": held,
                      "together": start["skew_ns"] + start["uncertainty_ns"] <= start["limit_ns"]})
    return found


def begun(given, hosts, *words):
    """A driver whose hosts measure, and when they began by the driver's clock, s."""
    folder, state = hosts.state()
    environment = {**hosts.environment(given.assay), **state}
    # What warms up is not measured, and would pass for a loss.
    command = plan(given, "--time", "2min", "--warm-up", "0s", "--hosts", hosts.option(), *words)
    driver = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
    for _ in range(600):
        kept = sorted(folder.glob("*.jsonl")) if folder.is_dir() else []
        texts = [path.read_text() for path in kept]
        if len(texts) == len(hosts.names) and all(text.count('"interval"') >= 3 for text in texts):
            break
        if driver.poll() is not None:
            raise RuntimeError("the driver ended")
        time.sleep(0.05)
    else:
        raise RuntimeError("the hosts do not measure")
    first = int(re.search(r'"begun":(\d+)', texts[0]).group(1))
    return driver, environment, first / 1e9 - hosts.offsets_s[0]


def loss(given, hosts, how):
    """From what happens to the last host until the result is there, s; what is said of it; when it does no more I/O, s."""
    name = hosts.names[-1]
    driver, _, start_s = begun(given, hosts)
    node = hosts.nodes(name)[0]
    happened_s = time.monotonic()
    if how == "cut":
        hosts.cut(name)
    elif how == "agent":
        for process in hosts.processes(name):
            os.kill(process, signal.SIGKILL)
    else:
        os.kill(node, signal.SIGKILL)
    ended_s = None
    out, noticed_s = b"", None
    while ended_s is None or driver.poll() is None:
        if ended_s is None and not is_there(node):
            ended_s = time.monotonic() - happened_s
        if driver.poll() is not None and noticed_s is None:
            noticed_s = time.monotonic() - happened_s
        if time.monotonic() - happened_s > 30:
            driver.kill()
            break
        time.sleep(0.01)
    printed_s = noticed_s if noticed_s is not None else time.monotonic() - happened_s
    out = driver.communicate()[0]
    if how == "cut":
        hosts.mend(name)
    cluster = json.loads(out)["cluster"]
    lost = cluster["hosts"][-1]["lost"]
    return {"noticed_s": start_s + lost["after_ns"] / 1e9 - happened_s, "printed_s": printed_s, "gone_s": ended_s, "code": driver.returncode,
            "reason": lost["reason"], "kept_s": cluster["window"]["elapsed_ns"] / 1e9, "measured_s": happened_s - start_s}


def deaths(given, hosts, count, with_cut):
    """The driver is killed: when all I/O has ended, and what `cluster collect` brings back."""
    found = []
    for _ in range(count):
        driver, environment, start_s = begun(given, hosts)
        nodes = [node for name in hosts.names for node in hosts.nodes(name)]
        # Anywhere in an interval.
        time.sleep(random.random())
        if with_cut:
            for name in hosts.names:
                hosts.cut(name)
        died_s = time.monotonic()
        driver.kill()
        driver.wait()
        while any(is_there(node) for node in nodes) and time.monotonic() - died_s < 30:
            time.sleep(0.005)
        ended_s = time.monotonic() - died_s
        if with_cut:
            for name in hosts.names:
                hosts.mend(name)
            time.sleep(1)
        command = [given.assay, "hosts", "collect", "latest", "--json", "--quiet", "--store", given.store]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, check=False)
        if done.returncode:
            found.append({"ended_s": ended_s, "lost_s": None, "why": done.stderr.decode()[:300]})
            continue
        run = json.loads(done.stdout)
        measurement = run["runs"][0]["measurement"]
        ios = sum(result["ios"] for stream in measurement["streams"] for result in stream["operations"].values())
        same = ios == sum(host["ios"] for host in run["cluster"]["hosts"])
        found.append({"ended_s": ended_s, "lost_s": died_s - start_s - measurement["elapsed_ns"] / 1e9, "same": same})
    return found


def iops(run):
    """I/Os a second of the run's workload."""
    measurement = run["runs"][0]["measurement"]
    ios = sum(result["ios"] for stream in measurement["streams"] for result in stream["operations"].values())
    return ios / measurement["elapsed_ns"] * 1e9


def fio_skew(given, hosts, count):
    """fio's client and servers on the same hosts: how far apart their first I/Os were, ms; its logs know whole milliseconds."""
    servers = [subprocess.Popen(["ip", "netns", "exec", f"assay-{name}", given.fio, "--server"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
               for name in hosts.names]
    time.sleep(1)
    found = []
    try:
        with tempfile.TemporaryDirectory() as folder:
            for number in range(count):
                job = Path(folder) / "job.fio"
                prefix = f"{folder}/log{number}"
                job.write_text(f"[job]\nfilename={folder}/file\nsize=16m\nrw=randread\nbs=8k\ndirect=1\ntime_based=1\nruntime=1\nwrite_iops_log={prefix}\n"
                               "log_unix_epoch=1\nlog_avg_msec=0\n")
                words = [word for name in hosts.names for word in (f"--client={hosts.address(name)}", str(job))]
                subprocess.run([given.fio, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60, check=False, cwd=folder)
                logs = list(Path(folder).glob(f"log{number}*")) + list(Path(folder).glob(f"*log{number}*"))
                firsts = [int(path.read_text().split(",", 1)[0]) for path in set(logs) if path.stat().st_size]
                if len(firsts) == len(hosts.names):
                    found.append(max(firsts) - min(firsts))
    finally:
        for server in servers:
            server.kill()
            server.wait()
    return found


def start_rows(found, outstanding, hosts, report):
    """Rows of repeated starts."""
    skews = [one["skew_ms"] for one in found]
    middle, most = statistics.median(skews), max(skews)
    table = [[f"true skew of {len(found)} starts of {len(hosts.names)} hosts, {outstanding} outstanding, ms", f"median {middle:.2f}, most {most:.2f}",
              report.bar(middle <= 0.5 and most <= 5, "≤ 0.5, ≤ 5")]]
    if outstanding > 1:
        return table
    held = sum(bool(one["skew_held"]) for one in found)
    table.append(["printed interval holds the true skew, of all starts", f"{held} of {len(found)}", report.bar(held >= 0.99 * len(found), "≥ 99%")])
    errors = [abs(error) for one in found for error in one["errors_us"]]
    held = sum(all(one["held"]) for one in found)
    table.append(["offsets of 0, 1,000 and 50,000 s: error, µs", f"median {statistics.median(errors):.0f}, most {max(errors):.0f}; all three held in {held} of {len(found)}",
                  report.bar(max(errors) <= 250 and held >= 0.99 * len(found), "≤ 250 busy; ≥ 99%")])
    return table


def loss_row(found, words, report):
    """A row of losses of one kind."""
    gone = [one["gone_s"] if one["gone_s"] is not None else 30.0 for one in found]
    noticed, printed = [one["noticed_s"] for one in found], [one["printed_s"] for one in found]
    # An interval of a second may have begun.
    kept = max(one["measured_s"] - one["kept_s"] for one in found)
    codes = sorted({one["code"] for one in found})
    met = max(noticed) <= LOST_S and codes == [3] and max(gone) <= GONE_S
    return [f"{words}, {len(found)} times: noticed, printed, its I/O ended, s: median, most",
            f"{statistics.median(noticed):.2f}, {statistics.median(printed):.2f}, {statistics.median(gone):.2f}; {max(noticed):.2f}, {max(printed):.2f}, {max(gone):.2f}; "
            f"exit code {', '.join(map(str, codes))}; at most {kept:.1f} s not kept", report.bar(met, f"noticed ≤ {LOST_S}, ended ≤ {GONE_S:.0f}, exit code 3")]


def death_row(found, with_cut, report):
    """A row of killed drivers."""
    ended = max(one["ended_s"] for one in found)
    lost = [one["lost_s"] for one in found]
    whole = all(one.get("same") for one in found)
    limit = 6.0 if with_cut else 1.0
    shown = "some not collected" if None in lost else f"{max(lost):.2f}"
    met = ended <= limit and None not in lost and max(lost) <= 1 and whole
    cut = ", cables cut" if with_cut else ""
    return [f"the driver is killed {len(found)} times{cut}: all I/O ended, lost after collecting, s at most", f"{ended:.2f}, {shown}",
            report.bar(met or (with_cut and ended <= limit), f"≤ {limit:.0f}, ≤ 1")]


def rows(given, hosts, report):
    """All bars whose name contains what was asked for, as rows of a table, and the raw numbers."""
    table, raw = [], {}
    asked = [name for name in ("starts_1", "starts_32", "loss_node", "loss_agent", "loss_cut", "deaths", "deaths_cut", "fio") if given.only in name]
    for outstanding in (1, 32):
        if f"starts_{outstanding}" in asked:
            found = raw[f"starts_{outstanding}"] = starts(given, hosts, given.starts, outstanding)
            table += start_rows(found, outstanding, hosts, report)
    for how, words in (("node", "the node is killed"), ("agent", "all processes of the host are killed"), ("cut", "the cable is cut")):
        name = f"loss_{how}"
        if name in asked:
            found = raw[name] = []
            for _ in range(given.losses):
                found.append(loss(given, hosts, how))
                if how == "agent":
                    return_hosts(hosts)
            table.append(loss_row(found, words, report))
    for with_cut, count in ((False, given.deaths), (True, max(1, given.deaths // 5))):
        name = "deaths_cut" if with_cut else "deaths"
        if name in asked:
            found = raw[name] = deaths(given, hosts, count, with_cut)
            table.append(death_row(found, with_cut, report))
    fio = raw["fio_skew_ms"] = fio_skew(given, hosts, min(given.starts, 12)) if "fio" in asked else []
    if fio:
        table.append([f"fio client/server, {len(fio)} starts: first I/Os apart, ms", f"median {statistics.median(fio):.0f}, most {max(fio)}", "none"])
    return table, raw


def return_hosts(hosts):
    """Makes the hosts again, where the agent of one was killed."""
    hosts.__exit__()
    hosts.agents = []
    hosts.__enter__()
