"""The programs that are compared: each runs one load and gives its figures in the same words and units."""

import json
import os
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

from . import histogram

QUANTILES = (0.5, 0.99, 0.999)
FIO_TUNED = (
    "--fixedbufs=1", "--registerfiles=1", "--norandommap=1", "--random_generator=tausworthe64",
)


@dataclass
class Load:
    """Random reads of one size."""

    path: str
    direct: bool
    queue_depth: int
    duration_s: float
    block_size_bytes: int = 8192
    rate: float = None
    process: str = "poisson"
    workers: int = 1
    warm_up_s: float = 0.0
    seed: int = 1


@dataclass
class Programs:
    """Where the programs are, and where the run of one may leave files."""

    assay: str = "assay"
    fio: str = "fio"
    floor: str = None
    realtime: bool = False
    scratch: str = field(default_factory=lambda: tempfile.mkdtemp(prefix="assay-benchmark-"))


class Failed(Exception):
    """A program did not do what it was asked."""


def _call(programs, command, **more):
    """Runs a program at the wanted priority, the same for every side: its result, and what its processes used."""
    started = time.monotonic()
    before = os.times()
    whole = ["chrt", "--fifo", "1", *command] if programs.realtime else command
    done = subprocess.run(whole, capture_output=True, text=True, check=False, **more)
    after = os.times()
    usage = {
        "wall_s": time.monotonic() - started,
        "process_user_s": after.children_user - before.children_user,
        "process_system_s": after.children_system - before.children_system,
    }
    return done, usage


def workload_text(load):
    """The workload file of a load."""
    closed = f"closed = {{ queue_depth = {load.outstanding} }}"
    opened = (
        f'open = {{ rate = "{load.rate}/s", process = "{load.process}", queue_depth_max = {load.outstanding} }}'
    )
    return "\n".join([
        "format = 1",
        'name = "benchmark"',
        f"seed = {load.seed}",
        f'duration = "{round(load.duration_s * 1000)}ms"',
        f'warm_up = "{round(load.warm_up_s * 1000)}ms"',
        f"direct = {'true' if load.direct else 'false'}",
        "[[stream]]",
        'name = "reads"',
        f'block_size = "{load.block_size_bytes}B"',
        f"workers = {load.workers}",
        "[stream.arrival]",
        opened if load.rate else closed,
        "",
    ])


def assay(programs, load, *options):
    """`assay run` of the load; CPU is that of the measured phase, of the whole process."""
    path = os.path.join(programs.scratch, "workload.toml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(workload_text(load))
    store = os.path.join(programs.scratch, "runs")
    command = [programs.assay, "run", path, load.path, "--json", "--store", store, *options]
    done, usage = _call(programs, command)
    if done.returncode not in (0, 1, 3):
        raise Failed(f"{' '.join(command)}: {done.returncode}: {done.stderr.strip()}")
    measurement = json.loads(done.stdout)["runs"][0]["measurement"]
    return {**assay_figures(measurement), **usage}


def assay_figures(measurement):
    """The figures of one measurement document."""
    read = measurement["streams"][0]["operations"]["read"]
    conduct, elapsed_s = measurement["conduct"], measurement["elapsed_ns"] / 1e9
    service = histogram.decode(read["service"])
    result = {
        "ios": read["ios"],
        "elapsed_s": elapsed_s,
        "iops": read["ios"] / elapsed_s,
        "cpu_user_s": conduct["cpu_user_s"],
        "cpu_system_s": conduct["cpu_system_s"],
        "latency_ns": {str(q): histogram.quantile_ns(service, q) for q in QUANTILES},
        "latency_mean_ns": read["service"]["mean_ns"],
        "enters": conduct["enters"],
        "queue_depth_mean": conduct["queue_depth_mean"],
        "littles_law_ratio": conduct["littles_law_ratio"],
        "submission": conduct["submission"],
        "clock": conduct["clock"],
        "features": conduct.get("features", []),
        "ceiling_iops": conduct.get("ceiling_iops"),
        "missed_arrivals": conduct.get("missed_arrivals", 0),
    }
    if read.get("response"):
        response = histogram.decode(read["response"])
        result["response_ns"] = {str(q): histogram.quantile_ns(response, q) for q in (*QUANTILES, 0.95, 0.96, 0.97)}
    if conduct.get("start_error"):
        error = histogram.decode(conduct["start_error"])
        result["start_error_ns"] = {str(q): histogram.quantile_ns(error, q) for q in QUANTILES}
    return result


def fio_command(programs, load, *options):
    """fio with the same file, transfer size, depth and duration; total latency (slat + clat) in the quantiles."""
    command = [
        programs.fio, "--name=benchmark", f"--filename={load.path}", "--ioengine=io_uring", "--rw=randread",
        f"--bs={load.block_size_bytes}", f"--direct={int(load.direct)}", f"--iodepth={load.outstanding}",
        f"--runtime={round(load.duration_s * 1000)}ms", "--time_based", "--readonly", "--allow_file_create=0",
        "--lat_percentiles=1", "--clat_percentiles=0", "--percentile_list=50:95:96:97:99:99.9",
        "--output-format=json", f"--randseed={load.seed}",
    ]
    if not load.direct:
        command.append("--invalidate=0")
    if load.warm_up_s:
        command.append(f"--ramp_time={round(load.warm_up_s * 1000)}ms")
    if load.workers > 1:
        command += [f"--numjobs={load.workers}", "--group_reporting"]
    if load.rate:
        process = {"poisson": "poisson", "constant": "linear"}[load.process]
        command += [f"--rate_iops={round(load.rate / load.workers)}", f"--rate_process={process}"]
    return [*command, *options]


def fio(programs, load, *options):
    """fio; CPU is its own usr_cpu and sys_cpu of the measuring phase (getrusage around the I/O loop)."""
    command = fio_command(programs, load, *options)
    done, usage = _call(programs, command, cwd=programs.scratch)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: {done.returncode}: {done.stderr.strip()}")
    job = json.loads(done.stdout[done.stdout.index("{"):])["jobs"][0]
    read, elapsed_s = job["read"], job["read"]["runtime"] / 1000
    # With several jobs in a group the shares are of the sum of their run times.
    run_s = job["job_runtime"] / 1000
    values = {str(round(float(key) / 100, 5)): value for key, value in read["lat_ns"].get("percentile", {}).items()}
    return {
        "ios": read["total_ios"],
        "elapsed_s": elapsed_s,
        "iops": read["total_ios"] / elapsed_s,
        "cpu_user_s": job["usr_cpu"] / 100 * run_s,
        "cpu_system_s": job["sys_cpu"] / 100 * run_s,
        "latency_ns": values,
        "latency_mean_ns": read["lat_ns"]["mean"],
        "submission_mean_ns": read["slat_ns"]["mean"],
        **usage,
    }


def fio_tuned(programs, load, *options):
    """fio with what its manual offers for efficiency; latency is recorded as well."""
    batch = min(load.outstanding, 32)
    batches = (
        f"--iodepth_batch_submit={batch}", "--iodepth_batch_complete_min=1",
        f"--iodepth_batch_complete_max={batch}",
    )
    return fio(programs, load, *FIO_TUNED, *batches, *options)


def floor(programs, load):
    """t/io_uring: submits and reaps, records nothing. CPU of the whole process over its whole life."""
    seconds, batch = max(2, round(load.duration_s)), min(load.outstanding, 32)
    command = [
        "stdbuf", "-oL", programs.floor, f"-d{load.outstanding}", f"-s{batch}", f"-c{batch}",
        f"-b{load.block_size_bytes}", "-p0", "-B1", "-F1", "-X1", f"-O{int(load.direct)}", f"-r{seconds}", load.path,
    ]
    done, usage = _call(programs, command)
    rates = [float(number) * {"": 1, "K": 1e3, "M": 1e6}[unit]
             for number, unit in re.findall(r"^IOPS=([\d.]+)([KM]?),", done.stdout, re.MULTILINE)]
    if not rates:
        raise Failed(f"{' '.join(command)}: {done.stdout} {done.stderr}")
    iops = sum(rates) / len(rates)
    # It prints no sum, and not its last second: the whole is the mean rate over the life of the process.
    return {
        "ios": iops * usage["wall_s"],
        "elapsed_s": usage["wall_s"],
        "iops": iops,
        "cpu_user_s": usage["process_user_s"],
        "cpu_system_s": usage["process_system_s"],
        **usage,
    }


def cpu_s_per_million(result):
    """CPU seconds, user and system, a million I/Os."""
    return (result["cpu_user_s"] + result["cpu_system_s"]) / result["ios"] * 1e6


def user_s_per_million(result):
    """User CPU seconds a million I/Os."""
    return result["cpu_user_s"] / result["ios"] * 1e6
