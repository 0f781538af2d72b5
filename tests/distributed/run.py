#!/usr/bin/env python3
"""Runs a test in several processes, which mpirun starts and MPI connects.

    run.py --processes N EXECUTABLE    all processes pass
    run.py --faults EXECUTABLE         faults of one of two processes end both: see FAULTS
"""

import argparse
import os
import re
import socket
import subprocess
import sys
import time

LAUNCH = os.path.join(os.path.dirname(__file__), "../../examples/launch.py")

# A fault that the executable is asked for; seconds within which all is over; what the line on standard error says.
FAULTS = [
    ("exception", 10, r"rank 1 of 2 on {host}, step 3: thrown by rank 1"),
    ("caught", 10, r"rank 1 of 2 on {host}, step 2: an exception ended a session"),
    ("op", 10, r"rank 1 of 2 on {host}, step 2: thrown by an op"),
    ("offset", 10, r"rank 1 of 2 on {host}, step 1: RemoteLoad: offset 7: an offset from 0 to 1 expected"),
    ("apart", 10, r"rank . of 2 on {host}, step 1: replicas took different branches of a conditional, in one of which is a collective"),
    ("fewer", 10, r"rank 0 of 2 on {host}, step 3: session at a collective after the start of run 3, that of the process of rank 1 at "
                  r"its end"),
    ("others", 10, r"rank . of 2 on {host}, step 0: session: another program than that of the process of rank ."),
    ("option", 10, r"rank . of 2 on {host}, step 0: session: all_reduce: (replica_order, and hierarchical|hierarchical, and replica_order) "
                   r"in the process of rank .: the same one expected"),
    ("hang", 10, r"rank 0 of 2 on {host}, step 2: collective: other processes did not come for [2-9] s"),
    ("killed", 10, r"rank 1 of 2 on \S+, step 3: killed by signal 9 \(SIGKILL\)"),
    ("exit", 10, r"rank 1 of 2, step 3: it ended with status 3 while others ran"),
    ("quiet", 10, r"rank 1 of 2( on \S+)?, step 3: it ended while others ran"),
    ("stopped", 10, r"rank 0 of 2 on {host}, step 4: collective: other processes did not come for [2-9] s"),
    ("divide", 10, r"rank . of 3 on {host}, step 0: session: 3 processes for 2 replicas: a number of processes that divides the "
                   r"replication factor expected"),
]


def run(command, environment, timeout):
    start = time.monotonic()
    result = subprocess.run(command, text=True, errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, timeout=timeout, env={**os.environ, **environment})
    return result, time.monotonic() - start


def running(executable):
    """Whether a process of the executable is left, such as one that was stopped."""
    for process in os.listdir("/proc"):
        try:
            if process.isdigit() and os.path.samefile(f"/proc/{process}/exe", executable):
                return True
        except OSError:
            pass
    return False


def check_fault(executable, name, seconds, pattern):
    """What is wrong, or ""."""
    count = "3" if name == "divide" else "2"
    try:
        result, took = run([sys.executable, LAUNCH, count, executable, name],
                           {"TILEWRIGHT_WAIT_SECONDS": "2" if name in ("hang", "stopped") else "60"}, 60)
    except subprocess.TimeoutExpired:
        return "it hangs"
    expected = r"^(\[1,\d\]<stderr>:)?tilewright: " + pattern.format(host=re.escape(socket.gethostname()))
    if result.returncode == 0:
        return "status 0"
    if took > seconds:
        return f"{took:.1f} s: at most {seconds} expected"
    if not any(re.search(expected, line) for line in result.stderr.splitlines()):
        return f"no line {expected}:\n{result.stderr}"
    if running(executable):
        return "a process is left"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--processes", type=int)
    parser.add_argument("--faults", action="store_true")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if options.processes:
        result, _ = run([sys.executable, LAUNCH, str(options.processes), *options.command],
                        {"TILEWRIGHT_LOG_LEVEL": "ERROR", "TILEWRIGHT_WAIT_SECONDS": "60"}, 300)
        print(result.stdout, result.stderr)
        sys.exit(result.returncode)
    failed = False
    for name, seconds, pattern in FAULTS:
        problem = check_fault(options.command[0], name, seconds, pattern)
        print(f"FAIL {name}: {problem}" if problem else f"ok   {name}", flush=True)
        failed = failed or bool(problem)
    sys.exit(failed)


if __name__ == "__main__":
    main()
