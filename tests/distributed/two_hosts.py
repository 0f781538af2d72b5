#!/usr/bin/env python3
"""Runs a program in two processes on two hosts, which are namespaces of this machine: each has a network, a host name, /tmp and
/dev/shm of its own, and a copy of the program there. The folders of programs and libraries are those of the machine.

    two_hosts.py build/gcc/examples/mnist_instances

The weights must have the hash of one process. A checkpoint is in the files of the first host alone; both go on from it. Ends with
status 77, and says which command was refused, where the system does not allow namespaces.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

SKIPPED = 77
OPTIONS = ["--limit-batches", "40", "--threads", "1"]
FOLDER = "/tmp/checkpoints"


def skip(command, why):
    print(f"skip: {' '.join(command)}: {why.strip()}")
    sys.exit(SKIPPED)


def fail(message):
    sys.exit(f"FAIL: {message}")


class Host:
    """Namespaces with a process that holds them."""

    def __init__(self, name, address):
        self.name, self.address = name, address
        setup = (f"hostname {name} && mount -t tmpfs tmpfs /tmp && mount -t tmpfs tmpfs /dev/shm && ip link set lo up && "
                 "echo ready && exec cat")
        command = ["unshare", "--net", "--uts", "--mount", "--propagation", "private", "sh", "-c", setup]
        try:  # cat ends with its standard input: when this program does
            self.holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        except FileNotFoundError as error:
            skip(command, str(error))
        if self.holder.stdout.readline() != "ready\n":
            skip(command, self.holder.communicate()[1])

    def enter(self, *command):
        return ["nsenter", "--target", str(self.holder.pid), "--net", "--uts", "--mount", "--wd=/tmp", *command]

    def run(self, *command, given=None):
        """Runs a part of the set-up, without which the test is skipped."""
        result = subprocess.run(self.enter(*command), input=given, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if result.returncode != 0:
            skip(command, result.stderr.decode(errors="replace"))

    def write(self, path, content):
        self.run("sh", "-c", f"cat > {path} && chmod 755 {path}", given=content)

    def has(self, path):
        return subprocess.run(self.enter("test", "-e", path)).returncode == 0

    def end(self):
        self.holder.stdin.close()
        self.holder.wait()


def connect(first, second, program):
    """Gives both hosts a network between them, and their files."""
    first.run("ip", "link", "add", "tw0", "type", "veth", "peer", "name", "tw0", "netns", str(second.holder.pid))
    names = f"127.0.0.1 localhost\n{first.address} {first.name}\n{second.address} {second.name}\n".encode()
    for host in (first, second):
        host.run("ip", "address", "add", f"{host.address}/24", "dev", "tw0")
        host.run("ip", "link", "set", "tw0", "up")
        host.write("/tmp/hosts", names)
        host.run("mount", "--bind", "/tmp/hosts", "/etc/hosts")
        host.write("/tmp/program", program)
    # What mpirun calls in place of ssh: agent HOST COMMAND... Its daemon on the other host looks for it, too.
    agent = " ".join(second.enter("sh", "-c"))
    for host in (first, second):
        host.write("/tmp/agent", f'#!/bin/sh\nshift\nexec {agent} "$*"\n'.encode())


def output_of(command):
    environment = {**os.environ, "HOME": "/tmp", "TMPDIR": "/tmp", "TILEWRIGHT_WAIT_SECONDS": "60"}
    result = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, errors="replace", timeout=300)
    if result.returncode != 0:
        fail(f"status {result.returncode} of {' '.join(map(str, command))}:\n{result.stdout}")
    return result.stdout


def hash_in(output):
    found = re.search(r"Hash of weights: ([0-9a-f]{16})", output)
    return found[1] if found else fail(f"no hash in the output:\n{output}")


def on_both(first, second, *options):
    as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return output_of(first.enter(
        "mpirun", *as_root, "-n", "2", "--host", f"{first.name}:1,{second.name}:1", "--mca", "plm_rsh_agent", "/tmp/agent",
        "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "tw0", "--mca", "oob_tcp_if_include", "tw0", "--bind-to", "none",
        "--tag-output", "--wdir", "/tmp", "sh", "-c", 'echo "on $(hostname)"; exec "$0" "$@"', "/tmp/program", *OPTIONS, *options))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = Path(sys.argv[1]).resolve()
    first, second = Host("tw-first", "10.77.0.1"), Host("tw-second", "10.77.0.2")
    try:
        connect(first, second, program.read_bytes())
        expected = hash_in(output_of([str(program), *OPTIONS]))
        output = on_both(first, second, "--folder", FOLDER, "--every", "15")
        for host in (first, second):
            if f"on {host.name}\n" not in output:
                fail(f"no process on {host.name}:\n{output}")
        if hash_in(output) != expected:
            fail(f"another hash than {expected}, that of one process:\n{output}")
        if not first.has(FOLDER) or second.has(FOLDER):
            fail("checkpoints on the first host alone expected")
        resumed = on_both(first, second, "--folder", FOLDER, "--every", "15", "--resume")
        if hash_in(resumed) != expected or "Resuming after step 40" not in resumed:
            fail(f"step 40 and the hash {expected} expected:\n{resumed}")
    finally:
        first.end()
        second.end()
    print(f"ok: two hosts, hash {expected}")


if __name__ == "__main__":
    main()
