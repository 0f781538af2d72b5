#!/usr/bin/env python3
"""Only the headers in ALLOWED ask which system they are compiled for, or include headers that not every system has."""

import re
import sys
from pathlib import Path

LIBRARY = Path(__file__).resolve().parents[2] / "include" / "tilewright"
ALLOWED = {"core/platform/cores.hpp", "core/platform/file_mapping.hpp", "core/platform/platform.hpp",
           "core/platform/platform_files.hpp", "core/platform/thread.hpp", "distributed/platform.hpp"}
SYSTEM = re.compile(r"\b(__linux__|__linux|__unix__|__unix|__APPLE__|__MACH__|__FreeBSD__|_WIN32|_WIN64|WIN32|__MINGW\w+|__CYGWIN__"
                    r"|TILEWRIGHT_PORTABLE|TILEWRIGHT_HAS_POSIX)\b")
DIRECTIVE = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif|elifdef|elifndef)\b")
HEADER = re.compile(r"(?:#\s*include\s*|__has_include\s*\()<((?:sys|linux|mach|arpa|netinet)/[\w./]+|unistd\.h|fcntl\.h|pthread\.h|sched\.h"
                    r"|dlfcn\.h|signal\.h|io\.h|windows\.h|process\.h|poll\.h|spawn\.h|dirent\.h)>", re.IGNORECASE)


def main():
    problems = []
    for path in sorted(LIBRARY.rglob("*.hpp")):
        name = str(path.relative_to(LIBRARY))
        if name in ALLOWED:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = SYSTEM.search(line) if DIRECTIVE.match(line) else None
            found = found or HEADER.search(line)
            if found:
                problems.append(f"{path}:{number}: {found[1]}: a function of core/platform/platform.hpp expected")
    problems += [f"{name}: no such header" for name in sorted(ALLOWED) if not (LIBRARY / name).is_file()]
    print("\n".join(problems) or f"systems are told apart in {', '.join(sorted(ALLOWED))} only")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
