"""What a command that builds something costs: processor time and peak memory."""

import os
import resource
import subprocess
import sys
import tempfile


def measure(command, folder=None, memory_limit=None, error=""):
    """Seconds of processor time and peak megabytes of a command and what it starts; None, with its output printed, if it fails. With
    an `error`, the command must fail and say so."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (memory_limit, memory_limit))

    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, cwd=folder, env=os.environ | {"CCACHE_DISABLE": "1"}, stdout=output,
                                   stderr=subprocess.STDOUT, preexec_fn=limit if memory_limit else None)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if (process.returncode != 0) != bool(error) or error not in text:
        print(text, file=sys.stderr)
        return None
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def build_program(build_dir, target, memory_limit=8_000_000_000):
    """What building a program from its source costs: (seconds of processor time, peak megabytes); None if it fails."""
    executable = build_dir / "benchmarks" / target
    for path in [executable, *build_dir.glob(f"benchmarks/CMakeFiles/benchmark_{target}.dir/**/*.o")]:
        path.unlink(missing_ok=True)
    return measure(["cmake", "--build", str(build_dir), "--target", f"benchmark_{target}"], memory_limit=memory_limit)
