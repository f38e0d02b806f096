"""How soon hosts of a Ray cluster are refused that cannot measure together: tokens, versions, names."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BAR_S = 5.0
OTHER = "import sys; import ray._private.utils as utils; utils.compute_version_info = lambda: ({}); text = sys.argv[2]; sys.argv[:3] = ['-c']; exec(text)"


def program(folder, name, text):
    """A program of a few lines."""
    path = Path(folder) / name
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def cases(folder, hosts):
    """What is wrong, who is asked, and the environment that makes it so."""
    import ray

    names, version = hosts.option(), ".".join(map(str, sys.version_info[:3]))
    token = Path(folder) / "token"
    token.write_text("f" * 64, encoding="utf-8")
    other_ray = program(folder, "other-ray", f"#!{sys.executable}\n{OTHER.format(repr('2.0.0') + ', ' + repr(version))}\n")
    other_python = program(folder, "other-python", f"#!{sys.executable}\n{OTHER.format(repr(ray.__version__) + ', ' + repr('3.9.1'))}\n")
    without = program(folder, "without", f"#!/bin/sh\nexec {sys.executable} -I -S \"$@\"\n")
    old = program(folder, "old", "#!/bin/sh\nread line\necho '{\"hello\":{\"format\":1,\"version\":\"0.0.1\",\"host_name\":\"old\"}}'\nread line\n")
    return [
        ("another token", names, {"RAY_AUTH_TOKEN_PATH": str(token)}),
        ("no token", names, {"RAY_AUTH_TOKEN_PATH": f"{folder}/nothing"}),
        ("no token mode", names, {"RAY_AUTH_MODE": "disabled"}),
        ("no Ray", names, {"ASSAY_PYTHON": without}),
        ("another Ray", names, {"ASSAY_PYTHON": other_ray}),
        ("another Python", names, {"ASSAY_PYTHON": other_python}),
        ("another assay", names, {"ASSAY_NODE_PROGRAM": old}),
        ("a host that is not there", f"{names},hX", {}),
    ]


def measured(given, hosts):
    """What each comes to, and how long that takes, s."""
    found = []
    with tempfile.TemporaryDirectory(prefix="assay-refused-") as folder:
        for what, names, environment in cases(folder, hosts):
            begun_s = time.monotonic()
            command = [given.assay, "run", "randread", os.path.abspath(given.directory), "--size", "64MiB", "--time", "1s", "--store", given.store, "--hosts", names]
            done = subprocess.run(command, capture_output=True, text=True, env={**hosts.environment(given.assay), **environment}, check=False)
            lines = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
            found.append({"what": what, "took_s": time.monotonic() - begun_s, "code": done.returncode, "said": lines})
    return found


def rows(found, report):
    """A row for each."""
    def is_met(one):
        return one["took_s"] <= BAR_S and one["code"] == 4 and [line.partition(":")[0] for line in one["said"]] == ["error", "hint"]

    return [[one["what"], f"{one['took_s']:.1f}", str(one["code"]), (one["said"] or [""])[0], report.bar(is_met(one), f"≤ {BAR_S:.0f} s, 4, an error and a hint")] for one in found]
