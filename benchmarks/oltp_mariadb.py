#!/usr/bin/env python3
"""The order-entry load on one MariaDB server, as procedures and as statements, compared with HammerDB and go-tpc; see oltp.py.

HammerDB wants Tcl and mysqltcl (found by TCLLIBPATH); `--hammerdb-minute` and `--kept` are those of oltp.py.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import oltp

PORT = "54191"
USER, PASSWORD = "bench", "x"
# A cache that holds all data, as for PostgreSQL: what is compared is client and statements. A commit waits for its log.
SETTINGS = {
    "innodb-buffer-pool-size": "2G", "innodb-log-file-size": "2G", "innodb-flush-method": "O_DIRECT", "innodb-flush-log-at-trx-commit": "1",
    "innodb-io-capacity": "2000", "innodb-io-capacity-max": "20000", "skip-log-bin": "1", "local-infile": "ON", "max-connections": "600",
    "max-prepared-stmt-count": "1048576", "bind-address": "127.0.0.1", "port": PORT,
}
ALWAYS = f"""
dbset db mysql
dbset bm TPC-C
diset connection mysql_host 127.0.0.1
diset connection mysql_port {PORT}
diset connection mysql_socket null
diset tpcc mysql_user {USER}
diset tpcc mysql_pass {PASSWORD}
diset tpcc mysql_dbase tpcc
diset tpcc mysql_count_ware {{warehouses}}
diset tpcc mysql_prepared true
"""
BUILD = "diset tpcc mysql_num_vu 2\nbuildschema\n"
RUN = """
diset tpcc mysql_driver timed
diset tpcc mysql_rampup 0
diset tpcc mysql_duration 1
diset tpcc mysql_allwarehouse true
loadscript
vuset vu {users}
vuset logtotemp 0
vucreate
vurun
vudestroy
"""
WAY = oltp.Way(f"mysql://{USER}:{PASSWORD}@127.0.0.1:{PORT}/", ["-d", "mysql", "-U", USER, "-p", PASSWORD, "-P", PORT], ALWAYS, BUILD, RUN)


class MariaDb:
    """A server of the script's own, as an unprivileged user; gone with its directory, unless that was named to be kept."""

    def __init__(self, bindir, directory, kept=None, more=()):
        self.bindir, self.kept = Path(bindir), kept
        self.path = Path(directory, kept) if kept else Path(tempfile.mkdtemp(prefix="oltp-", dir=directory))
        self.path.mkdir(exist_ok=True)
        self.user = "mysql" if os.geteuid() == 0 and "mysql" in (entry.pw_name for entry in pwd.getpwall()) else None
        self.user = self.user or ("nobody" if os.geteuid() == 0 else None)
        if self.user:
            os.chown(self.path, pwd.getpwnam(self.user).pw_uid, -1)
        data = self.path / "data"
        is_new = not data.exists()
        if is_new:
            subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal",
                            "--skip-test-db"], user=self.user, cwd=self.path, check=True, capture_output=True)
        words = [*(f"--{name}={value}" for name, value in SETTINGS.items()), *more]
        log = open(self.path / "log", "w", encoding="utf-8")
        command = [self.bindir / "mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={self.path / 's'}", f"--pid-file={self.path / 'pid'}"]
        self.process = subprocess.Popen([*command, *words], user=self.user, cwd=self.path, stdout=log, stderr=log, process_group=0)
        self._wait()
        if is_new:
            self.sql(f"CREATE USER {USER}@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'; GRANT ALL ON *.* TO {USER}@'127.0.0.1'; "
                     f"CREATE USER {USER}@localhost IDENTIFIED BY '{PASSWORD}'; GRANT ALL ON *.* TO {USER}@localhost")

    def _client(self, text):
        command = ["mariadb", "--no-defaults", "-u", "root", "-S", self.path / "s", "-BN", "-e", text]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def _wait(self):
        for _ in range(600):
            if self._client("SELECT 1").returncode == 0:
                return
            time.sleep(0.1)
        raise SystemExit("the server did not start")

    def sql(self, text):
        """All cells of all rows."""
        done = self._client(text)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        return done.stdout.split()

    def has(self, database):
        """Whether there is a database of this name."""
        return bool(self.sql(f"SHOW DATABASES LIKE '{database}'"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # What is kept is closed in order, so that the next start has nothing to recover.
        if self.kept:
            self.process.terminate()
        else:
            self.process.kill()
        self.process.wait()
        if not self.kept:
            shutil.rmtree(self.path)


def main():
    given = oltp.options(__doc__)
    raw, lines = {}, []
    with MariaDb(given.bindir, given.directory, given.kept) as server:
        raw["server"] = server.sql("SELECT VERSION()")[0]
        if given.only in "loading":
            oltp.loading(given, server, WAY, raw)
        if given.only == "prepare":
            oltp.prepare(given, server, WAY)
        if "users" in given.only or not given.only:
            oltp.running(given, server, WAY, raw, lines)
    oltp.tell(given, "oltp_mariadb", raw, lines, SETTINGS)


if __name__ == "__main__":
    main()
