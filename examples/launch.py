#!/usr/bin/env python3
"""Runs a program in several processes, which mpirun starts and MPI connects.

    launch.py N PROGRAM [options]

Each process gets cores of its own where there are enough, and its lines begin with its rank. If a process is killed, or ends
before the others, one line on standard error says which, where, in which run of its session, and how. The status is mpirun's.
"""

import os
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile

# The words of Open MPI 4 and 5 for a process that a signal ended, and for one that ended otherwise.
KILLED = re.compile(r"process rank (\d+) with PID \d+ on node (\S+)\s+exited on\s+signal (\d+)")
ENDED = re.compile(r"Process name:\s+\[\S+,(\d+)\]\s+Exit code:\s+(\d+)")
OURS = re.compile(r"tilewright: rank \d+ of \d+ on ")

# The same for one that ended with status 0.
LEFT = re.compile(r"process rank (\d+) with PID \d+ on\s+node (\S+) exiting\s+improperly")


def binding(count):
    cores = len(os.sched_getaffinity(0))
    chosen = ["--map-by", f"slot:PE={cores // count}", "--bind-to", "core"] if count <= cores else ["--bind-to", "none", "--oversubscribe"]
    return chosen + (["--allow-run-as-root"] if os.geteuid() == 0 else [])


def place_of(directory, rank, host):
    """The host and the number of the run that the process was in, for a line. A process on a host without this directory wrote
    neither; `host` is what mpirun says, or ""."""
    try:
        with open(os.path.join(directory, f"rank-{rank}"), "rb") as file:
            step, own_host = struct.unpack("=q", file.read(8))[0], file.read().decode(errors="replace")
        return f" on {own_host}, step {step}"
    except (OSError, struct.error):
        return f" on {host}" if host else ""


def cause(text):
    """Which rank ended, on which host, "" if that is not known, and how; None if its own line says so, or all went well."""
    if OURS.search(text):
        return None
    if killed := KILLED.search(text):
        number = int(killed[3])
        name = signal.Signals(number).name if number in set(signal.Signals) else str(number)
        return int(killed[1]), killed[2], f"killed by signal {number} ({name})"
    if ended := ENDED.search(text):
        return int(ended[1]), "", f"it ended with status {ended[2]} while others ran"
    if left := LEFT.search(text):
        return int(left[1]), left[2], "it ended while others ran"
    return None


def children_of(parent):
    """The fields of proc(5) of the children of a process, from the third field on, by their numbers."""
    children = {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            children[int(process)] = fields
    return children


def cause_of_statuses(statuses):
    """As cause(), of the statuses of all ranks, in their order, as wait(2) gives them: of a process that a signal ended which
    mpirun does not send, else of one that failed."""
    def urgency(rank):
        number = statuses[rank] & 0x7f
        return (1 if number == 0 else 2 if number == signal.SIGTERM else 0, rank)

    failed = [rank for rank, status in enumerate(statuses) if status != 0]
    if not failed:
        return None
    rank = min(failed, key=urgency)
    number = statuses[rank] & 0x7f
    if number == 0:
        return rank, "", f"it ended with status {statuses[rank] >> 8} while others ran"
    return rank, "", f"killed by signal {number} ({signal.Signals(number).name})"


def run(command, count, environment):
    """Runs mpirun for a number of processes, and passes its standard error on. Returns its status and why a process ended, as
    cause() does.

    Open MPI 4.1 with PMIx 4.2 waits for a lock of its own, about once in a hundred times, when all processes have ended, before
    it has said why. It is killed then, after some seconds, and the statuses say why."""
    mpirun = subprocess.Popen(command, stderr=subprocess.PIPE, env=environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # mpirun has it from the terminal
    signal.signal(signal.SIGTERM, lambda number, frame: mpirun.send_signal(number))
    text, seconds = "", 0
    while True:
        if select.select([mpirun.stderr], [], [], 1)[0]:
            piece = os.read(mpirun.stderr.fileno(), 65536)
            if not piece:
                break
            sys.stderr.buffer.write(piece)
            sys.stderr.buffer.flush()
            text = (text + piece.decode(errors="replace"))[-65536:]
            continue
        children = children_of(mpirun.pid)
        have_ended = children and all(fields[0] == "Z" for fields in children.values())
        seconds = seconds + 1 if have_ended else 0
        if seconds == 3:
            mpirun.kill()
            mpirun.wait()
            statuses = [int(children[process][49]) for process in sorted(children)]  # mpirun starts ranks in their order
            is_known = len(statuses) == count and not OURS.search(text)
            return int(any(statuses)), cause(text) or (cause_of_statuses(statuses) if is_known else None)
    status = mpirun.wait()
    return (status if status >= 0 else 128 - status), cause(text)


def main():
    if len(sys.argv) < 3 or not re.fullmatch("[1-9][0-9]*", sys.argv[1]):
        sys.exit(__doc__)
    count = int(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="tilewright-") as steps:
        command = ["mpirun", "-n", str(count), *binding(count), "--tag-output", "-x", "TILEWRIGHT_STEPS", *sys.argv[2:]]
        status, found = run(command, count, {**os.environ, "TILEWRIGHT_STEPS": steps})
        if status != 0 and found:
            rank, host, what = found
            print(f"tilewright: rank {rank} of {count}{place_of(steps, rank, host)}: {what}", file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
