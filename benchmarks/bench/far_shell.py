"""A remote shell without secrets, for hosts that are made of namespaces on one machine: `ssh` of the rig, over TCP.

    far_shell.py serve                     in a host: runs what it is asked to, with the connection as its pipes
    far_shell.py HOST WORD ...             on the driver: ADDRESSES in the environment says where hosts are
"""

import json
import os
import socket
import sys
import threading

PORT = 7722


def serve():
    """Runs commands, each for one connection, which ends with its command and the command with it."""
    listener = socket.create_server(("0.0.0.0", PORT))
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            line = connection.makefile("rb", buffering=0).readline()
            if not line:
                os._exit(0)
            asked = json.loads(line)
            os.environ.update(asked["environment"])
            words = asked["words"]
            descriptor = connection.fileno()
            os.dup2(descriptor, 0)
            os.dup2(descriptor, 1)
            os.execvp(words[0], words)
        connection.close()


def connect(host, words):
    """Carries standard input and output of a command on another host."""
    address = json.loads(os.environ["ADDRESSES"])[host]
    connection = socket.create_connection((address, PORT), timeout=10)
    connection.settimeout(None)
    environment = {name: os.environ[name] for name in ("XDG_STATE_HOME",) if name in os.environ}
    connection.sendall(json.dumps({"words": words, "environment": environment}).encode() + b"\n")

    def upwards():
        while True:
            piece = os.read(0, 1 << 16)
            if not piece:
                break
            connection.sendall(piece)
        connection.shutdown(socket.SHUT_WR)

    threading.Thread(target=upwards, daemon=True).start()
    while True:
        piece = connection.recv(1 << 16)
        if not piece:
            os._exit(0)
        os.write(1, piece)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve()
    connect(sys.argv[1], sys.argv[2:])
