"""The relay: lines from standard input go to the nodes, lines of the nodes to standard output, each in an envelope.

In:  {"to": 0, "body": …}    Out: {"said": {"from": 0, "body": …}}
                                  {"lost": {"from": 0, "reason": "…"}}
                                  {"refused": {"message": "…", "hint": "…"}}
It reads nothing but the envelope. Every wait has an end; when standard input ends the nodes do, too.
It is started with `python3 -I` in `/`, so that no module of a working directory is imported.
"""

import argparse
import json
import os
import re
import site
import socket
import stat
import subprocess
import sys
import threading

# Nothing is reported to anybody, and a database that fills the memory of its host must not end our actor.
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
# A cluster that refuses once refuses every second; Ray asks twenty times by default.
os.environ.setdefault("RAY_NUM_REDIS_GET_RETRIES", "1")

CONNECT_S, PLACE_S, FAREWELL_S, REACH_S = 60, 60, 10, 3
# The longest line of a node, and of an error that is passed on; the driver takes no longer ones.
LINE_BYTES, WORDS = 16 << 20, 500
ADDRESS_BYTES = 256
NAME_IT = "export RAY_ADDRESS=HOST:6379, the address of your own cluster"
MISSING = "pip install 'assay[ray]' on every host, in the same version of Python"
ONE_TOKEN = "copy the token of the cluster to ~/.ray/auth_token, or to where RAY_AUTH_TOKEN_PATH says; see `ray get-auth-token`"
# Passed on as an argument of a method: state tools show labels, environments and arguments of actors.
TOKEN = "ASSAY_NODE_TOKEN"

write_lock = threading.Lock()
# Where envelopes go; `main` keeps it apart from standard output, to which Ray prints.
envelopes = sys.stdout


def say(envelope):
    """Writes one envelope; a driver that has gone hears nothing."""
    line = json.dumps(envelope, separators=(",", ":"))
    with write_lock:
        try:
            envelopes.write(line + "\n")
            envelopes.flush()
        except (BrokenPipeError, ValueError):
            os._exit(1)


def refuse(message, hint):
    """Says why nothing can be done, and ends."""
    say({"refused": {"message": message, "hint": hint}})
    os._exit(4)


class Node:
    """An actor on a host: it holds one child and passes lines. One thread hears, one speaks in the order of its lines, one closes."""

    def __init__(self, words):
        self.words = words
        self.child = None

    def start(self, token):
        """Starts the node; gives its version of Python as a sign of life."""
        environment = {**os.environ, TOKEN: token}
        try:
            self.child = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        except OSError as error:
            return f"starting {self.words[0]}: {error.strerror}"
        return None

    def say(self, line):
        """Passes a line to the node."""
        try:
            self.child.stdin.write(line)
            self.child.stdin.flush()
        except (BrokenPipeError, ValueError, AttributeError):
            pass  # Its end is heard of where its lines are.

    def hear(self):
        """Passes the node's lines on, one by one, until it ends; the last word says how."""
        for line in iter(lambda: self.child.stdout.readline(LINE_BYTES + 1), b""):
            yield line
        code = self.child.wait()
        yield f"its program was ended by signal {-code}" if code < 0 else f"its program ended with exit code {code}"

    def close(self):
        """Lets the node end by itself; it removes its test file then."""
        try:
            self.child.stdin.close()
            self.child.wait(FAREWELL_S)
        except (OSError, ValueError, AttributeError, subprocess.TimeoutExpired):
            if self.child:
                self.child.kill()


def find(ray, names):
    """The identity in the cluster of each host, by its label, its name or its address."""
    alive = [node for node in ray.nodes() if node["Alive"]]
    found = {name: matches(alive, name) for name in names}
    known = f"hosts that are there: {listed(sorted({label(node) or node['NodeManagerHostname'] for node in alive}))}; `ray start` on another one says why it cannot join"
    missing = [name for name in names if not found[name]]
    if missing:
        refuse(f"not there in the Ray cluster: {listed(missing)}" if missing[1:] else f"the host {missing[0]} is not there in the Ray cluster", known)
    called = {}
    for name in names:
        if found[name][1:]:
            refuse(f"the host {name} is there more than once in the Ray cluster", known)
        other = called.setdefault(found[name][0]["NodeID"], name)
        if other != name:
            refuse(f"{other} and {name} are one host", "specify every host once")
    return list(called)


def label(node):
    """What the host was called when it was started."""
    return node.get("Labels", {}).get("assay.io/host")


def matches(alive, name):
    """The nodes that have this label, or else this name or address."""
    labels = [node for node in alive if label(node) == name]
    return labels or [node for node in alive if name in (node["NodeManagerHostname"], node["NodeManagerAddress"])]


def listed(names):
    """Names, of many the first ones and how many more."""
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if names[8:] else "")


def address():
    """Where the cluster is: what the user names, or else the file of Ray, which another user may have written."""
    named = os.environ.get("RAY_ADDRESS", "")
    if named and named != "auto":
        return named
    folder = os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or "/tmp"
    path = os.path.join(folder, "ray", "ray_current_cluster")
    found = own_line(path)
    check_server(found, path)
    return found


def own_line(path):
    """The line of a file that nobody but this user and root can have written."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        refuse("no Ray cluster is named, and none runs here", NAME_IT)
    with open(descriptor, "rb") as file:
        facts = os.fstat(descriptor)
        is_plain = stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1
        if not is_plain or facts.st_uid not in (0, os.geteuid()) or facts.st_mode & 0o022:
            refuse(f"another user may have written {path}, which names the Ray cluster", NAME_IT)
        return file.read(ADDRESS_BYTES).decode("utf-8", "replace").strip()


def check_server(found, path):
    """Refuses a server on this machine that belongs to another user: it would get the token."""
    host, _, port = found.rpartition(":")
    host = host.strip("[]")
    if not port.isdigit() or not is_here(host):
        return
    foreign = listeners(int(port)) - {0, os.geteuid()}
    if foreign:
        refuse(f"another user listens at {found}, which {path} names as the Ray cluster", NAME_IT)


def is_here(host):
    """Whether an address is one of this machine: only such ones can be bound."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as tried:
            tried.bind(place)
    except (OSError, IndexError):
        return False
    return True


def listeners(port):
    """The users whose programs listen at a port of this machine."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(table, encoding="ascii") as file:
                rows = [line.split() for line in file.readlines()[1:]]
        except OSError:
            continue
        # The fourth column is the state, of which 0A is LISTEN; the eighth is the user.
        found.update(int(row[7]) for row in rows if row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == port)
    return found


def reach(place):
    """Refuses at once where nobody listens at the address of the cluster; Ray itself would try for a minute."""
    host, _, port = place.rpartition(":")
    if not host or "/" in host or not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), timeout=REACH_S).close()
    except OSError as error:
        refuse(f"no Ray cluster answers at {host}:{port}: {error.strerror or error}", "check the network and `ray status`")


def connect():
    """The module, connected to the cluster that is there."""
    if os.path.isdir(site.getusersitepackages()) and os.stat(site.getusersitepackages()).st_uid == os.geteuid():
        # Where `pip install --user` puts modules, which `-I` leaves out.
        sys.path.append(site.getusersitepackages())
    try:
        import ray
    except ImportError:
        refuse("Ray is not installed", MISSING)
    if os.environ.get("RAY_AUTH_MODE") != "token":
        refuse("the Ray cluster is not asked for its token, and without one it takes orders from anybody",
               "export RAY_AUTH_MODE=token on all hosts and start the cluster again; see `ray get-auth-token --generate`")
    check_token()
    place = address()
    reach(place)
    failed = []

    def attempt():
        try:
            ray.init(address=place, log_to_driver=False, configure_logging=False, logging_level="ERROR")
        except BaseException as error:  # Ray raises other things than Exception, too.
            failed.append(reason(error, place))

    within(CONNECT_S, attempt, "no Ray cluster answers")
    if failed:
        refuse(*failed[0])
    return ray


def check_token():
    """Refuses where there is no token to show; Ray's own code would end this process."""
    path = os.environ.get("RAY_AUTH_TOKEN_PATH") or os.path.expanduser("~/.ray/auth_token")
    if os.environ.get("RAY_AUTH_TOKEN"):
        return
    try:
        with open(path, encoding="utf-8") as file:
            is_there = bool(file.read().strip())
    except (OSError, UnicodeDecodeError):
        is_there = False
    if not is_there:
        refuse(f"there is no token for the Ray cluster: {path} cannot be read, or is empty", ONE_TOKEN)


def reason(error, place):
    """Why there is no connection, and what to do about it."""
    words = str(error).strip()
    versions = re.findall(r"Ray: (\S+)\s+Python: (\S+)", words)
    if len(versions) == 2:
        (ray, python), (own_ray, own_python) = versions
        return (f"the cluster has Ray {ray} and Python {python}, this machine Ray {own_ray} and Python {own_python}",
                "install the same versions of both on every host, to the last digit")
    if "Failed to connect to Ray cluster" in words and is_token_refused(place):
        return "the Ray cluster refuses the token", ONE_TOKEN
    first = words.splitlines()[0].partition(". ")[0] if words else type(error).__name__
    return f"connecting to the Ray cluster: {first}", "look at `ray status`; start the cluster with `ray start`, in the same versions of Ray and Python everywhere"


def is_token_refused(address):
    """Whether it is the token for which a cluster that listens does not answer: `ray.init` does not say."""
    try:
        from ray._raylet import GcsClient

        GcsClient(address=address)
    except BaseException as error:
        return type(error).__name__ == "AuthenticationError"
    return False


def within(seconds, work, message):
    """Waits for some work as long as that; work that hangs ends the relay."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        refuse(f"{message} within {seconds} s", "check the network and `ray status`")


def place(ray, identities, words, token):
    """One actor a host, none of which is ever restarted: a restarted load is another experiment."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    # A pool of threads would mix the order of lines: each kind of call has one thread of its own.
    groups = {"hear": 1, "say": 1, "close": 1}
    made = ray.remote(max_restarts=0, max_task_retries=0, concurrency_groups=groups, num_cpus=0)(Node)
    actors = [made.options(scheduling_strategy=NodeAffinitySchedulingStrategy(identity, soft=False)).remote(words)
              for identity in identities]
    try:
        failed = [reason for reason in ray.get([actor.start.remote(token) for actor in actors], timeout=PLACE_S) if reason]
    except Exception as error:
        refuse(f"placing nodes: {str(error).strip().splitlines()[0]}", "look at `ray status` and at the hosts")
    if failed:
        refuse(failed[0], MISSING)
    return actors


def relay(ray, number, actor):
    """Passes on what a node says until it ends."""
    reason = "its line ended"
    try:
        for reference in actor.hear.options(num_returns="streaming", concurrency_group="hear").remote():
            line = ray.get(reference)
            if isinstance(line, str):
                reason = line
            else:
                say({"said": {"from": number, "body": json.loads(line)}})
    except Exception as error:
        reason = str(error).strip().splitlines()[0]
    say({"lost": {"from": number, "reason": reason[:WORDS]}})


def keep_envelopes_apart():
    """Gives standard output to whatever Ray prints, which goes where errors go; envelopes have a descriptor of their own."""
    global envelopes
    envelopes = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)


def main():
    """Carries the relay out."""
    parser = argparse.ArgumentParser(prog="assay-ray", description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", required=True, help="names of hosts, joined by commas")
    parser.add_argument("--program", default="assay", help="the program `assay` on every host")
    options = parser.parse_args()
    names = options.hosts.split(",")
    token = os.environ.pop(TOKEN, "")
    keep_envelopes_apart()
    ray = connect()
    actors = place(ray, find(ray, names), [options.program, "node"], token)
    for number, actor in enumerate(actors):
        threading.Thread(target=relay, args=(ray, number, actor), daemon=True).start()
    for line in sys.stdin:
        envelope = json.loads(line)
        actors[envelope["to"]].say.options(concurrency_group="say").remote((json.dumps(envelope["body"], separators=(",", ":")) + "\n").encode())
    try:
        ray.wait([actor.close.options(concurrency_group="close").remote() for actor in actors], num_returns=len(actors), timeout=FAREWELL_S)
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
