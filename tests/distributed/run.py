#!/usr/bin/env python3
"""Runs a test in several processes, which mpirun starts and MPI connects.

    run.py --processes N EXECUTABLE    all processes pass
    run.py --faults EXECUTABLE         a fault of one process ends all: see FAULTS
"""

import argparse
import os
import re
import socket
import subprocess
import sys
import time

OURS = re.compile(r"(\[1,\d\]<stderr>: ?)?tilewright: ")
LAUNCH = os.path.join(os.path.dirname(__file__), "../../examples/launch.py")

# A fault that the executable is asked for; numbers of processes, of which rank 1 has it (all have "together"); what the one line on standard error says.
FAULTS = [
    ("exception", [2, 4], r"rank 1 of {n} on {host}, step 3: thrown by rank 1"),
    ("together", [2, 4], r"rank . of {n} on {host}, step 3: thrown by all"),
    ("caught", [2], r"rank 1 of {n} on {host}, step 2: an exception ended a session"),
    ("op", [2], r"rank 1 of {n} on {host}, step 2: thrown by an op"),
    ("offset", [2, 4], r"rank 1 of {n} on {host}, step 1: RemoteLoad: offset 7( \(and 1 more\))?: an offset from 0 to 1 expected"),
    ("apart", [2], r"rank 0 of {n} on {host}, step 1: replicas took different branches of a conditional, in one of which is a collective"),
    ("fewer", [2, 4], r"rank . of {n} on {host}, step 3: session at a collective after the start of run 3, that of the process of rank 1 "
                      r"at its end"),
    ("others", [2, 4], r"rank . of {n} on {host}, step 0: session: another program than that of the process of rank ."),
    ("mean", [2], r"rank 0 of {n} on {host}, step 0: session: another program than that of the process of rank 1"),
    ("seed", [2], r"rank 0 of {n} on {host}, step 0: session: seed 1, and 2 in the process of rank 1: the same one expected"),
    ("option", [2], r"rank 0 of {n} on {host}, step 0: session: all_reduce: replica_order, and hierarchical in the process of rank 1: the "
                    r"same one expected"),
    ("hang", [2, 4], r"rank 0 of {n} on {host}, step 2: collective: rank 1 did not come for [2-9] s"),
    ("killed", [2, 4], r"rank 1 of {n} on {host}, step 3: killed by signal 9 \(SIGKILL\)"),
    ("exit", [2], r"rank 1 of {n} on {host}, step 3: it ended with status 3 while others ran"),
    ("quiet", [2], r"rank 1 of {n} on {host}, step 3: it ended while others ran"),
    ("stopped", [2, 4], r"rank 0 of {n} on {host}, step 4: collective: rank 1 did not come for [2-9] s"),
    ("divide", [3], r"rank 0 of {n} on {host}, step 0: session: 3 processes for 4 replicas: a number of processes that divides the "
                    r"replication factor expected"),
]
MOST_SECONDS = 10  # from the start of the program to the end of all processes, beyond those of a run without a fault


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


def seconds_without_fault(executable, count):
    result, took = run([sys.executable, LAUNCH, str(count), executable, "none"], {"TILEWRIGHT_WAIT_SECONDS": "60"}, 300)
    if result.returncode != 0:
        sys.exit(f"FAIL none, {count} processes:\n{result.stderr}")
    return took


def check_fault(executable, name, count, pattern, most_seconds):
    """What is wrong, or ""."""
    try:
        result, took = run([sys.executable, LAUNCH, str(count), executable, name],
                           {"TILEWRIGHT_WAIT_SECONDS": "2" if name in ("hang", "stopped") else "60"}, most_seconds + 50)
    except subprocess.TimeoutExpired:
        return "it hangs"
    if result.returncode == 0:
        return "status 0"
    if took > most_seconds:
        return f"{took:.1f} s: at most {most_seconds:.1f} expected"
    lines = [OURS.sub("", line) for line in result.stderr.splitlines() if OURS.match(line)]
    expected = pattern.format(n=count, host=re.escape(socket.gethostname()))
    if len(lines) != 1 or not re.match(expected, lines[0]):
        return f"one line {expected} expected:\n{result.stderr}"
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
    executable = options.command[0]
    most_seconds = {count: MOST_SECONDS + seconds_without_fault(executable, count) for count in (2, 4)}
    for name, counts, pattern in FAULTS:
        for count in counts:
            problem = check_fault(executable, name, count, pattern, most_seconds.get(count, most_seconds[4]))
            print(f"FAIL {name}, {count} processes: {problem}" if problem else f"ok   {name}, {count} processes", flush=True)
            failed = failed or bool(problem)
    sys.exit(failed)


if __name__ == "__main__":
    main()
