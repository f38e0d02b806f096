"""What the check of skipped tests lets pass, and what it does not."""

import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "check-skips"


class CheckSkips(unittest.TestCase):
    def check(self, log: str, expected: str = "# why\nno MySQL .*\n") -> subprocess.CompletedProcess:
        with tempfile.TemporaryDirectory() as directory:
            paths = [pathlib.Path(directory, name) for name in ("expected", "log")]
            for path, text in zip(paths, (expected, log)):
                path.write_text(text)
            return subprocess.run([SCRIPT, *paths], capture_output=True, text=True, check=False)

    def test_expected_skips_pass(self):
        self.assertEqual(self.check("skipped: no MySQL server\ntest a ... ok\n").returncode, 0)
        self.assertEqual(self.check("test a ... ok\n").returncode, 0)

    def test_another_skip_fails_and_is_named_once(self):
        found = self.check("skipped: no root\nskipped: no root\nskipped: no MySQL server\n")
        self.assertEqual((found.returncode, found.stdout.count("no root")), (1, 1))
        self.assertNotIn("MySQL", found.stdout)

    def test_a_reason_must_be_expected_whole(self):
        self.assertEqual(self.check("skipped: there is no MySQL server\n").returncode, 1)

    def test_skips_of_python_count_as_well(self):
        self.assertEqual(self.check("test_a (x.Y) ... skipped 'no browser'\n").returncode, 1)


if __name__ == "__main__":
    unittest.main()
