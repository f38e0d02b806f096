#!/usr/bin/env python3
"""What TLS costs a statement: `assay bench slob` over loopback with and without it, on PostgreSQL and MariaDB.

Needs a release build, PostgreSQL and MariaDB, openssl, and root (servers run as their own accounts). Rounds take turns, so that what
else the machine does falls on both sides. Prints statements a second, their time, and the CPU of client and server, for each side.

    python3 benchmarks/tls.py target/release/assay [SECONDS] [ROUNDS]
"""
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ASSAY = os.path.abspath(sys.argv[1])
SECONDS = sys.argv[2] if len(sys.argv) > 2 else "4s"
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 5
BIN = "/usr/lib/postgresql/15/bin/"
SECRET = "benchmark"


def sh(words, **more):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more).stdout


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait(port):
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the server does not start")


def certificates(place):
    sh(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=ca", "-days", "9"], cwd=place)
    sh(["openssl", "req", "-newkey", "rsa:2048", "-nodes", "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost"], cwd=place)
    with open(place + "/names", "w") as names:
        names.write("subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n")
    sh(["openssl", "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", "server.pem", "-days", "9", "-extfile", "names"], cwd=place)


def postgres(place, port):
    data = place + "/data"
    with open(place + "/secret", "w") as file:
        file.write(SECRET)
    for name in ("secret", "server.key"):
        shutil.chown(f"{place}/{name}", "postgres")
        os.chmod(f"{place}/{name}", 0o600)
    as_postgres = {"user": "postgres", "group": "postgres", "cwd": place}
    sh([BIN + "initdb", "-D", data, "-U", "owner", "--auth=scram-sha-256", "--pwfile", "secret", "--no-sync"], **as_postgres)
    return subprocess.Popen(
        [BIN + "postgres", "-D", data, "-p", str(port), "-c", "unix_socket_directories=", "-c", "ssl=on", "-c", "fsync=off",
         "-c", f"ssl_cert_file={place}/server.pem", "-c", f"ssl_key_file={place}/server.key", "-c", "shared_buffers=256MB"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **as_postgres)


def mariadb(place, port):
    shutil.chown(place + "/server.key", "nobody")
    as_mysql = {"user": "nobody", "group": "nogroup", "cwd": place}
    sh(["mysql_install_db", "--no-defaults", "--skip-test-db", "--datadir=" + place + "/data"], **as_mysql)
    with open(place + "/first.sql", "w") as file:
        file.write(f"CREATE USER owner@'%' IDENTIFIED BY '{SECRET}';\nGRANT ALL ON *.* TO owner@'%' WITH GRANT OPTION;\nSET GLOBAL local_infile = ON;\n")
    os.chmod(place + "/first.sql", 0o644)
    return subprocess.Popen(
        ["/usr/sbin/mariadbd", "--no-defaults", "--datadir=" + place + "/data", "--socket=" + place + "/data/s", f"--port={port}", "--bind-address=127.0.0.1",
         "--init-file=" + place + "/first.sql", "--ssl-cert=" + place + "/server.pem", "--ssl-key=" + place + "/server.key", "--innodb-buffer-pool-size=256M", "--skip-name-resolve"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **as_mysql)


def load(address, store):
    words = [ASSAY, "bench", "slob", address, "--quiet", "--json", "--scale", "16MiB", "--sessions", "1", "--time", SECONDS, "--store", store]
    answer = json.loads(sh(words))
    rung = answer["load"]["steps"][0]
    return answer["load"]["server"].get("encryption"), rung


def main():
    for name, begin, scheme, plain, secure in [
        ("PostgreSQL", postgres, "postgresql", "sslmode=disable", "sslmode=verify-full&sslrootcert="),
        ("MariaDB", mariadb, "mysql", "ssl-mode=DISABLED", "ssl-mode=VERIFY_IDENTITY&ssl-ca="),
    ]:
        place = tempfile.mkdtemp(prefix="assay-tls-", dir="/dev/shm")
        os.chmod(place, 0o777)
        certificates(place)
        port = free_port()
        server = begin(place, port)
        try:
            wait(port)
            time.sleep(2)
            database = "postgres" if scheme == "postgresql" else ""
            found = {"plain": [], "TLS": []}
            for _ in range(ROUNDS):
                for side, setting in (("plain", plain), ("TLS", secure + place + "/ca.pem")):
                    found[side].append(load(f"{scheme}://owner:{SECRET}@localhost:{port}/{database}?{setting}", place + "/runs"))
            costs = [encryption["cost_per_answer_ns"] / 1000 for encryption, _ in found["TLS"]]
            print(f"{name}: reported cost of an answer, us: median {statistics.median(costs):.2f}, from {min(costs):.2f} to {max(costs):.2f}")
            for side, runs in found.items():
                print(name, side, json.dumps(runs[-1][0]))
                for key in ("statements_per_s", "elapsed_us_per_statement", "client_cpu_us_per_statement", "server_cpu_us_per_statement"):
                    values = [value(rung, key) for _, rung in runs]
                    values = [one for one in values if one is not None]
                    if values:
                        print(f"  {key}: median {statistics.median(values):.2f}, from {min(values):.2f} to {max(values):.2f}, n = {len(values)}")
        finally:
            server.send_signal(signal.SIGINT if scheme == "postgresql" else signal.SIGTERM)
            server.wait(20)
            shutil.rmtree(place)


def value(rung, key):
    """Of the only session: statements a second, their mean time, and the CPU time of client and server for each, us."""
    streams = rung["measurement"]["streams"]
    statements = sum(found["ios"] for stream in streams for found in stream["operations"].values())
    elapsed_s = rung["measurement"]["elapsed_ns"] / 1e9
    return {
        "statements_per_s": statements / elapsed_s,
        "elapsed_us_per_statement": 1e6 * elapsed_s / statements,
        "client_cpu_us_per_statement": 1e6 * rung["client_cpu_s"] / statements,
        "server_cpu_us_per_statement": 1e6 * rung["server_cpu_s"] / statements if rung["server_cpu_s"] else None,
    }[key]


main()
