"""Runs an import in a process of its own, with limits, so that no file can make it crash, fill the memory or run on."""

import os
import resource
import signal
import sys
import tempfile
from pathlib import Path

# What an import may take, and how much more by the size of the file.
MOST_BYTES, BYTES_A_BYTE = 2 << 30, 16
MOST_SECONDS, BYTES_A_SECOND = 10, 20 << 20


def size_of(path):
    return path.stat().st_size if path.is_file() else 0


def most_bytes(path):
    return MOST_BYTES + BYTES_A_BYTE * size_of(path)


def most_seconds(path):
    return MOST_SECONDS + size_of(path) // BYTES_A_SECOND


def run(options):
    """The exit status of an import; what is wrong is one line. A folder that an import made in vain goes again."""
    is_new = not options.out.exists()
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        print(f"import: {options.out}: {error.strerror.lower()}: a folder expected", file=sys.stderr)
        return 1
    status = run_in(options)
    if status != 0 and is_new:
        options.out.rmdir()
    return status


def run_in(options):
    with tempfile.TemporaryDirectory(dir=options.out, prefix=".import-") as folder:
        child = os.fork()
        if child == 0:
            os._exit(in_child(options, Path(folder)))
        status = os.waitpid(child, 0)[1]
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            why = f"more than {most_seconds(options.model)} seconds" if number in (signal.SIGXCPU, signal.SIGKILL) else signal.Signals(number).name
            print(f"import: {options.model}: the reader ended by {why}: a sound file expected", file=sys.stderr)
            return 1
        if os.WEXITSTATUS(status) == 0:
            for file in sorted(Path(folder).iterdir()):
                file.replace(options.out / file.name)
        return os.WEXITSTATUS(status)


def in_child(options, folder):
    code = 1
    try:
        resource.setrlimit(resource.RLIMIT_AS, (most_bytes(options.model),) * 2)
        resource.setrlimit(resource.RLIMIT_CPU, (most_seconds(options.model),) * 2)
        null = os.open(os.devnull, os.O_WRONLY)
        own = os.dup(2)
        os.dup2(null, 2)  # libraries write to it
        errors = os.fdopen(own, "w")
        text = attempt(options, folder)
        code = 0 if text is None else 1
        if text is not None:
            print(text, file=errors, flush=True)
    finally:
        sys.stdout.flush()
        return code


def attempt(options, folder):
    """Writes the files; what is wrong, or None."""
    try:
        import files
        from model import Fault
    except ImportError as error:
        return f"import: {error.name or error}: Debian's python3-onnx and python3-numpy expected"
    try:
        return files.write(options, folder)
    except Fault as fault:
        return f"import: {options.model}: {' '.join(str(fault).split())}"
    except MemoryError:
        return f"import: {options.model}: more than {most_bytes(options.model)} bytes of memory: a smaller model expected"
    except Exception as error:  # a defect here: still one line
        where = error.__traceback__
        while where.tb_next:
            where = where.tb_next
        at = f"{Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}"
        return f"import: {options.model}: {type(error).__name__} in {at}: {' '.join(str(error).split())[:200]}"
