#!/usr/bin/env python3
"""Measures what compiling costs, with GCC and with Clang: processor time and peak memory, the least of several rounds.

    compiling                        all rows; --rows NAMES some of them
    compiling --source FILE          a program of yours, too
    compiling --beside COMMIT        this checkout and a commit, in turns; their programs are those of their own README and examples
    compiling --write                puts the figures of one run into README.md and pages of docs/, on a machine without other work
    compiling --headers [SOURCE...]  where Clang's time goes: by owner, header and template, without what these include or
                                     instantiate; of model.hpp and tilewright.hpp, each with an empty main, unless sources are given
    compiling --phases [SOURCE]      where both compilers' time goes by phase; of README's program unless a source is given

The options are those that CMake gives to a user's target, with -O3 -march=native. Builds and the commit lie in build/compiling/.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import compile_pages
import compile_reports
from build_costs import measure
from compile_rows import COMPILERS, HEADERS, LARGER, ROWS, Project, Row

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/compiling"


def version(compiler):
    """`GCC 12.2`."""
    output = subprocess.run([COMPILERS[compiler], "-dumpfullversion", "-dumpversion"], capture_output=True, text=True, check=True).stdout
    return f"{compiler} {'.'.join(output.split()[0].split('.')[:2])}"


def worktree(commit):
    """A checkout of a commit in build/, and its short name."""
    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()

    name = git("rev-parse", "--verify", "--short=8", f"{commit}^{{commit}}")
    folder = FOLDER / f"checkout-{name}"
    if not folder.exists():
        git("worktree", "prune")
        git("worktree", "add", "--quiet", "--detach", str(folder), name)
    return folder, name


def least(costs):
    """The least processor time and the least memory, or None if a compilation failed."""
    return None if None in costs else tuple(map(min, zip(*costs)))


def measured(projects, rows, rounds):
    """By (key, compiler, name of the checkout): the least of all rounds. Checkouts take turns, and who is first changes."""
    costs = {}
    for number in range(rounds):
        for key, row in rows.items():
            for compiler in row.compilers:
                names = [name for each, name in projects if each == compiler and (not row.needs or not name)]
                for name in names if number % 2 == 0 else reversed(names):
                    print(f"round {number + 1}: {key}, {compiler} {name}", file=sys.stderr, flush=True)
                    costs.setdefault((key, compiler, name), []).append(row.cost(projects[compiler, name]))
    return {key: least(each) for key, each in costs.items()}


def compared(rows, costs, versions, before):
    """A table of this checkout and, if there is one, of a commit before it."""
    head = [each for name in versions.values() for each in ((f"{name}, {before}", "now", "ratio") if before else (name,))]
    lines = [f"| | {' | '.join(head)} |", f"| --- |{' ---: |' * len(head)}"]
    for key, row in rows.items():
        cells = []
        for compiler in versions:
            now, old = costs.get((key, compiler, "")), costs.get((key, compiler, before))
            cells += [compile_pages.cell(old)] if before else []
            cells.append(compile_pages.cell(now, costs.get(("readme", compiler, "")) if key == "check" else None))
            cells += [f"{now[0] / old[0]:.2f}" if now and old else ""] if before else []
        lines.append(f"| {row.what} | {' | '.join(cells)} |")
    return "\n".join(lines)


def table(head, rows):
    width = max(len(row[0]) for row in rows)
    print(f"{'':{width}}  " + "  ".join(f"{each:>8}" for each in head))
    for what, *numbers in rows:
        print(f"{what:{width}}  " + "  ".join(f"{number:8.{0 if number >= 1000 or isinstance(number, int) else 2}f}" for number in numbers))


def gcc_report(command):
    """The phases of a command of GCC, and parts of them."""
    process = subprocess.run([*command, "-ftime-report", "-o", os.devnull], stderr=subprocess.PIPE, text=True)
    if process.returncode:
        sys.exit(process.stderr)
    return compile_reports.gcc_rows(process.stderr)


def clang_report(project, source):
    """A trace whose times are scaled to processor time, so that other work on the machine changes less."""
    path = project.folder / "trace.json"
    cost = measure(project.command(source, f"-ftime-trace={path}", "-ftime-trace-granularity=10", "-c", "-o", os.devnull))
    if not cost:
        sys.exit(1)
    return compile_reports.scaled(json.loads(path.read_text()), cost[0])


def show_headers(project, sources, most):
    for source in sources or [project.with_empty_main(name) for name in HEADERS]:
        owners, headers, templates = compile_reports.clang_owners(clang_report(project, source))
        print(f"\n{source.name}, {version('Clang')}, seconds of reading and checking")
        for head, rows in ((("own",), owners), (("own", "with all"), headers), (("own", "times"), templates)):
            print()
            table(head, sorted(rows, key=lambda row: -row[1])[:most])


def show_phases(project, source, compiler):
    source = source or project.folder / "app.cpp"
    print(f"\n{version(compiler)}: {source.name}")
    if compiler == "GCC":
        for rows in gcc_report(project.command(source, "-c")):
            table(("seconds", "MB"), rows)
    else:
        table(("seconds",), compile_reports.clang_phases(clang_report(project, source)))


def phases_by_way(project):
    """Of the README's program: GCC's phases with headers alone, with a precompiled header, and with the library, too."""
    for target in ("header", "edited"):
        project.built(target)
    reports = [gcc_report([*project.options(target), "-c", str(project.folder / "app.cpp")]) for target in ("command", "header", "edited")]
    return [{row[0]: row[1] for rows in report for row in rows} for report in reports]


def main():
    parser = argparse.ArgumentParser(prog="./dev bench compiling", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=lambda text: text.split(","), help=f"of {','.join(ROWS)}; without it, none of {','.join(LARGER)}")
    parser.add_argument("--compilers", type=lambda text: text.split(","), help=f"of {','.join(COMPILERS)}")
    parser.add_argument("--source", type=Path, action="append", default=[], metavar="FILE")
    parser.add_argument("--beside", metavar="COMMIT")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--headers", type=Path, nargs="*", metavar="SOURCE")
    parser.add_argument("--most", type=int, default=20, help="lines of headers and of templates")
    parser.add_argument("--phases", type=Path, nargs="?", const=False, metavar="SOURCE")
    parser.add_argument("--build-dir", help=argparse.SUPPRESS)  # of other kinds of benchmarks
    options = parser.parse_args()
    all_rows = ROWS | LARGER
    if unknown := [name for name in options.rows or [] if name not in all_rows]:
        parser.error(f"no row {', '.join(unknown)}: {', '.join(all_rows)} expected")
    for source in [*options.source, *(options.headers or []), *filter(None, [options.phases])]:
        if not source.is_file():
            parser.error(f"{source}: a source file expected")
    if options.write and (options.rows or options.compilers):
        parser.error("--write writes all rows")
    compilers = [name for name, command in COMPILERS.items() if name in (options.compilers or COMPILERS) and shutil.which(command)]
    if options.headers is not None:
        compilers = ["Clang"]
    projects = {(compiler, ""): Project(ROOT, compiler, FOLDER / f"now-{compiler}") for compiler in compilers}
    if options.headers is not None:
        return show_headers(projects["Clang", ""], options.headers, options.most)
    if options.phases is not None:
        for (compiler, _), project in projects.items():
            show_phases(project, options.phases, compiler)
        return None

    before = ""
    if options.beside:
        checkout, before = worktree(options.beside)
        projects |= {(compiler, before): Project(checkout, compiler, FOLDER / f"{before}-{compiler}") for compiler in compilers}
    rows = {key: all_rows[key] for key in options.rows or ([] if options.source else ROWS)}
    for key in [key for key, row in rows.items() if row.needs and not Path(row.needs).exists()]:
        print(f"left out: {rows.pop(key).what}: {ROWS[key].needs} is not there", file=sys.stderr)
    rows |= {source.name: Row(f"`{source.name}`, `-O3`", lambda project, source=source: project.compiled(source.resolve()))
             for source in options.source}
    versions = {compiler: version(compiler) for compiler in compilers}
    costs = measured(projects, rows, options.rounds)
    print(compared(rows, costs, versions, before))
    if options.write:
        now = {(key, compiler): cost for (key, compiler, name), cost in costs.items() if not name}
        compile_pages.write({key: row.what for key, row in rows.items()}, now, versions, phases_by_way(projects["GCC", ""]))
    return None


if __name__ == "__main__":
    main()
