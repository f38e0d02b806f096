"""The packages in dist/ install into an empty root with what they promise, and what they install runs."""

import os
import platform
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from tests.dist.elf import Elf

ROOT = Path(__file__).parents[2]
DIST = ROOT / os.environ.get("DIST", "dist")
PROMISED = [
    "usr/bin/assay",
    "usr/share/man/man1/assay.1.gz",
    "usr/share/man/man1/assay-check.1.gz",
    "usr/share/man/man1/assay-bench-slob.1.gz",
    "usr/share/bash-completion/completions/assay",
    "usr/share/zsh/vendor-completions/_assay",
    "usr/share/fish/vendor_completions.d/assay.fish",
]


def run(*words: "str | Path", **settings) -> str:
    """What a command says on standard output; it must succeed."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **settings)
    if done.returncode:
        raise AssertionError(f"{words}: {done.stdout}{done.stderr}")
    return done.stdout


class Package(unittest.TestCase):
    """What both kinds of packages are asked."""

    def only(self, pattern: str, program: str) -> Path:
        found = list(DIST.glob(pattern))
        if not found:
            self.skipTest(f"{DIST.name} holds no {pattern}; `make dist` makes it where its tool is")
        if shutil.which(program) is None:
            self.skipTest(f"{program} is not installed")
        self.assertEqual(len(found), 1, found)
        return found[0]

    def assert_installed(self, root: Path) -> None:
        for name in PROMISED:
            self.assertTrue((root / name).stat().st_size > 0, name)
        program = root / "usr/bin/assay"
        self.assertEqual(program.read_bytes(), (DIST / "assay").read_bytes())
        if Elf(program.read_bytes()).machine() == platform.machine():
            self.assertRegex(run(program, "--version"), r"^assay \d+\.\d+\.\d+\n$")
            answer = run(program, "run", "oltp", "array:ps6010xv", "--time", "1s", "--json", "-q", cwd=root)
            self.assertIn('"measurement"', answer)
        if shutil.which("man"):
            page = run("man", "-l", root / "usr/share/man/man1/assay-check.1.gz", env={**os.environ, "MANWIDTH": "80"})
            self.assertIn("--max-latency", page)

    def test_deb(self) -> None:
        package = self.only("assay_*.deb", "dpkg")
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name in ("info", "updates", "triggers"):
                (root / "var/lib/dpkg" / name).mkdir(parents=True)
            for name in ("status", "available"):
                (root / "var/lib/dpkg" / name).touch()
            force = "--force-not-root,depends,architecture"
            run("dpkg", force, "--root", root, f"--admindir={root}/var/lib/dpkg", "--log=/dev/null", "-i", package)
            self.assert_installed(root)

    def test_rpm(self) -> None:
        package = self.only("assay-*.rpm", "rpm")
        if os.geteuid() != 0:
            self.skipTest("rpm installs into another root as root only")
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            run("rpm", "--root", root, "--dbpath", "/var/lib/rpm", "--initdb")
            run("rpm", "--root", root, "--dbpath", "/var/lib/rpm", "--nodeps", "--ignorearch", "-i", package)
            self.assert_installed(root)

    def test_container(self) -> None:
        self.only("assay-*.whl", "podman")
        run("podman", "build", "--tag", "assay-test", ROOT)
        self.assertRegex(run("podman", "run", "--rm", "assay-test", "--version"), r"^assay \d")


if __name__ == "__main__":
    unittest.main()
