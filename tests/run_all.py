#!/usr/bin/env python3
"""Builds and runs tests: this is `./dev test`. Parts are workflows of CMakePresets.json and scripts. A part that fails does not end the
run: its last lines name all that failed, and the command that repeats each alone.

    run_all.py                  what tells most in 14 to 21 minutes on two cores, with GCC
    run_all.py --rest           the rest with GCC: pages, examples, random programs, packages, several processes
    run_all.py --elsewhere      a part with Clang, code with vectors for x86-64-v3, a part in fresh systems
    run_all.py NAME             the tests whose names match, such as run/sessions/sessions, static or 'fail/(ops|calls)'
    run_all.py --since COMMIT   what can have changed since a commit, by the compiler's lists of files, and all rules
    run_all.py --quick          what the compiler checks, errors of the core, the ops on the host
    run_all.py --all            everything: also long tests, the sanitizers, random programs, 64-bit ARM and Windows
    run_all.py --systems        all compilers of fresh Debian systems, as a table; further options are those of tests/systems/run.py
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

PROJECT = Path(__file__).resolve().parents[1]
DEV = PROJECT / "dev"
SKIPPED_SYSTEMS = PROJECT / "build/skipped-systems"
NO_CLANG = "CLANG: install clang-19 (clang++-19) to run its part of the tests"

# What tests do without if it cannot be installed, by its purpose in cmake/packages.txt.
OPTIONAL = {"graphviz": "Graphviz", "mpi": "MPI", "packaging": "pkg-config and the reader of GitHub's workflow",
            "chromium": "Chromium, which opens reports", "arm": "ARM", "wasm": "WebAssembly", "multilib": "32 bits", "cortex": "microcontrollers",
            "valgrind": "valgrind, which counts instructions", "node": "node, which reads the scripts of reports", "editor": "clangd and GDB",
            "models": "ONNX's models"}
OPTIONAL_OF_ALL = {"windows": "Windows", "npm": "ESLint, which reads the scripts of pages", "docs": "the site"}
MOST_ALONE = 3  # that many tests by name are compiled alone, more with others of their folders
IN_FOLDER_OF_TARGET = r"CMakeFiles/([\w.+-]+)\.dir/"
SANITIZERS = ["asan", "ubsan", "tsan"]
LONG_SCRIPTS = {"random programs": ["random_programs/run.py", "random_programs/planted.py"],
                "ops at the edges of their dtypes, and planted faults of values": ["edges/run.py", "edges/planted.py"]}


class Failure(NamedTuple):
    name: str
    again: str  # the command that repeats it alone
    seconds: float
    target: str = ""  # what was built for it


def say(text):
    print(f"\033[1m== {text}\033[0m", file=sys.stderr, flush=True)


def call(*command):
    """The status."""
    return subprocess.run(command, cwd=PROJECT).returncode


def output_of(*command):
    return subprocess.run(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True).stdout


def is_set_up(purpose, what=""):
    """Installs what is missing for a purpose. If that is impossible, says what is left out."""
    found = subprocess.run([DEV, "setup", purpose]).returncode == 0
    if not found and what:
        say(f"testing without {what}")
    return found


def script(path, *options, before=()):
    """Runs a script of tests/, and returns its failure in a list."""
    start = time.monotonic()
    status = call(*before, sys.executable, PROJECT / "tests" / path, *options)
    again = shlex.join(["python3", f"tests/{path}", *map(str, options)])
    return [Failure(path, again, time.monotonic() - start)] if status != 0 else []


def seconds_of_builds(folder):
    """By the names of targets, from Ninja's log: the last builds of their objects."""
    log = folder / ".ninja_log"
    entries = [line.split("\t") for line in log.read_text().splitlines()[1:]] if log.exists() else []
    seconds = {}
    for output, start, end in {each[3]: (each[3], *each[:2]) for each in entries}.values():  # the last of each output
        if target := re.search(IN_FOLDER_OF_TARGET, output):
            seconds[target[1]] = seconds.get(target[1], 0) + (int(end) - int(start)) / 1000
    return seconds


def labels_of(test):
    return next((each["value"] for each in test["properties"] if each["name"] == "LABELS"), [])


def targets_of(labels):
    return [label.removeprefix("target:") for label in labels if label.startswith("target:")]


def run_tests(preset, chosen):
    """Runs the tests of a preset that options of CTest choose, and returns what failed."""
    configured = next(each["configurePreset"] for each in presets("testPresets") if each["name"] == preset)
    results = PROJECT / "build" / f"{preset}.xml"
    results.parent.mkdir(exist_ok=True)
    results.unlink(missing_ok=True)
    status = call("ctest", "--preset", preset, *chosen, "--output-junit", results)
    if status == 0:
        return []
    again = ["./dev", "test", *(["--with", configured] if configured not in ("gcc", "bench") else [])]
    cases = ElementTree.parse(results).iter("testcase") if results.exists() else []
    failed = [Failure(case.get("name"), shlex.join([*again, f"^{case.get('name')}$"]), float(case.get("time", 0)))
              for case in cases if case.get("status") not in ("run", "disabled") and case.find("skipped[@message='SKIP_RETURN_CODE=77']") is None]
    if failed:  # those that are compiled together have one target
        shown = output_of("ctest", "--preset", preset, "--show-only=json-v1")
        targets = {test["name"]: target for test in json.loads(shown)["tests"] for target in targets_of(labels_of(test))} if shown else {}
        failed = [each._replace(target=targets.get(each.name, "")) for each in failed]
    return failed or [Failure(f"ctest {preset}", shlex.join(["ctest", "--preset", preset, *chosen]), 0)]


def presets(kind):
    return json.loads((PROJECT / "CMakePresets.json").read_text())[kind]


def workflow(name):
    """Configures, builds and tests a workflow of CMakePresets.json, and returns what failed. What does not compile does not end it."""
    say(name)
    steps = next(each["steps"] for each in presets("workflowPresets") if each["name"] == name)
    configuration, build, test = (step["name"] for step in steps)
    if call("cmake", "--preset", configuration) != 0:
        return [Failure(f"the configuration of {name}", f"cmake --preset {configuration}", 0)]
    is_built = call("cmake", "--build", "--preset", build, "--", "-k", "0") == 0
    failed = run_tests(test, [])
    return failed or ([] if is_built else [Failure(f"the build of {name}", f"cmake --build --preset {build}", 0)])


def run_gcc(suffix="", optional=OPTIONAL):
    for purpose, what in optional.items():
        is_set_up(purpose, what)
    return workflow(f"gcc{suffix}")


def run_portable(suffix):
    if re.search(r"\bavx2\b", Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""):
        return workflow(f"portable{suffix}")
    return []


def run_clang(preset, without):
    if is_set_up("clang") and shutil.which("clang++-19"):
        return workflow(preset)
    without.append(NO_CLANG)
    return []


def run_systems(without):
    say("systems")
    is_set_up("systems", "other systems")
    asks = os.geteuid() != 0 and shutil.which("sudo")
    is_free = asks and subprocess.run(["sudo", "-n", "true"], stderr=subprocess.DEVNULL).returncode == 0
    SKIPPED_SYSTEMS.parent.mkdir(exist_ok=True)
    failed = script("systems/run.py", "--skipped", SKIPPED_SYSTEMS, before=["sudo"] if is_free else [])
    if SKIPPED_SYSTEMS.exists() and SKIPPED_SYSTEMS.stat().st_size:
        without.append(SKIPPED_SYSTEMS.read_text())
    return failed


def run_elsewhere(without):
    return run_portable("") + run_clang("clang", without) + run_systems(without)


def run_everything(without):
    is_set_up("bench")  # a benchmark has to compile
    failed = run_gcc("-all", OPTIONAL | OPTIONAL_OF_ALL) + run_portable("-all") + run_clang("clang-all", without)
    for preset in ["standard-library", *SANITIZERS]:
        failed += workflow(preset)
    for what, scripts in LONG_SCRIPTS.items():
        say(what)
        failed += [failure for each in scripts for failure in script(each)]
    if shutil.which("aarch64-linux-gnu-g++") and shutil.which("qemu-aarch64"):
        failed += workflow("arm")
    return failed


def build_and_run(preset, labels, chosen):
    """Builds the targets that labels of CTest name, and nothing else, and runs the tests that its options choose."""
    if targets := sorted(set(targets_of(labels))):
        call("cmake", "--build", "--preset", preset, "--target", *targets, "--", "-k", "0")
    return run_tests(preset, [*chosen, "--no-tests=error"])


def run_matching(pattern, preset):
    chosen, configure = ["--tests-regex", pattern], ["cmake", "--preset", preset]
    if call(*configure) != 0:
        return [Failure(f"the configuration of {preset}", f"cmake --preset {preset}", 0)]
    labels = output_of("ctest", "--preset", preset, *chosen, "--print-labels").split()
    count = len(re.findall(r"Test +#\d+:", output_of("ctest", "--preset", preset, *chosen, "--show-only"))) if "joined" in labels else 0
    if 0 < count <= MOST_ALONE:  # no other test of their programs
        call(*configure, "-DTILEWRIGHT_JOIN_TESTS=OFF")
        labels = output_of("ctest", "--preset", preset, *chosen, "--print-labels").split()
    return build_and_run(preset, labels, chosen)


def changed_since(commit):
    """The files that differ from a commit, in the project."""
    changed = output_of("git", "diff", "--name-only", "--relative", commit)
    return {*changed.splitlines(), *output_of("git", "ls-files", "--others", "--exclude-standard").splitlines()}


def files_of_targets(folder):
    """What the objects of each target have read, from the compilers' lists that Ninja keeps: with those of the precompiled header that
    it takes, and of the libraries and objects that it links."""
    files, target = {}, ""
    for line in output_of("ninja", "-C", str(folder), "-t", "deps").splitlines():
        if line.startswith(" "):
            path = Path(folder, line.strip())
            if path.is_relative_to(PROJECT):
                files[target].add(os.path.relpath(os.path.normpath(path), PROJECT))
        elif found := re.search(IN_FOLDER_OF_TARGET, line):
            target = found[1]
            files.setdefault(target, set())
    rules = folder / "build.ninja"
    own = {target: set(read) for target, read in files.items()}
    for line in rules.read_text().splitlines() if rules.exists() else []:
        if line.startswith("build ") and (user := re.search(r"_(?:LINKER|COMPILER)__(\S+?)_(?:unscanned_)?(?:Release|Debug)?\b", line)):
            for used in {*re.findall(IN_FOLDER_OF_TARGET, line), *re.findall(r"/lib([\w.+-]+)\.a\b", line)} & set(own):
                files.setdefault(user[1], set()).update(own[used])
    return files


def can_have_changed(test, files, changed):
    """A test of a target by the files of its objects, a script by its folder and the library, those of pages by any page; a rule reads
    anything."""
    if test["name"].startswith("rules/") or (test["name"].startswith("docs/") and any(path.endswith(".md") for path in changed)):
        return True
    targets = targets_of(labels_of(test))
    folder = f"tests/{test['name'].split('/')[0]}/"
    if not targets and any(path.startswith(("include/", folder)) for path in changed):
        return True
    return any(path.endswith(("CMakeLists.txt", ".cmake", "CMakePresets.json")) for path in changed) or any(
        files.get(re.sub(f".*{IN_FOLDER_OF_TARGET}.*", r"\1", target), changed) & changed for target in targets)


def run_since(commit):
    if call("git", "rev-parse", "--quiet", "--verify", f"{commit}^{{commit}}") != 0:
        sys.exit(f"./dev test --since {commit}: a commit of this repository expected")
    if call("cmake", "--preset", "gcc") != 0:
        return [Failure("the configuration of gcc", "cmake --preset gcc", 0)]
    tests = json.loads(output_of("ctest", "--preset", "gcc-usual", "--show-only=json-v1"))["tests"]
    numbers = dict(re.findall(r"^ *Test +#(\d+): (\S+)$", output_of("ctest", "--preset", "gcc", "--show-only"), re.MULTILINE))
    numbers = {name: number for number, name in numbers.items()}
    files, changed = files_of_targets(PROJECT / "build/gcc"), changed_since(commit)
    chosen = [test for test in tests if can_have_changed(test, files, changed)]
    say(f"{len(changed)} files differ from {commit}: {len(chosen)} of {len(tests)} tests")
    labels = {label for test in chosen for label in labels_of(test)}
    return build_and_run("gcc", labels, ["-I", ",".join(["0", "0", "0", *(numbers[test["name"]] for test in chosen)])])


def report(failed, without, seconds):
    """The last lines of a run. The status."""
    rest = "".join(f" WITHOUT {what}" for what in without)
    if not failed:
        say(f"passed in {seconds:.0f} s{rest}")
        return 0
    say(f"{len(failed)} failed in {seconds:.0f} s{rest}; each alone, with the minutes that it took:")
    builds = seconds_of_builds(PROJECT / "build/gcc")
    for failure in failed:
        built = builds.get(failure.target, 0)
        print(f"{failure.name}\n  {failure.again}  # {(failure.seconds + built) / 60:.1f}", file=sys.stderr)
    return 1


def main():
    parser = argparse.ArgumentParser(prog="./dev test", description=__doc__.split("\n", 1)[0])
    parser.add_argument("name", nargs="?", help="a regular expression: the tests whose names match, with GCC")
    parser.add_argument("--with", dest="preset", default="gcc", metavar="PRESET",
                        help="the tests that NAME chooses by another preset of CMakePresets.json, such as clang")
    parser.add_argument("--since", metavar="COMMIT", help="what can have changed since a commit, and all rules, with GCC")
    parser.add_argument("--rest", action="store_true", help="pages, examples, random programs, packages, several processes, with GCC")
    parser.add_argument("--elsewhere", action="store_true", help="a part with Clang, for x86-64-v3 and in fresh systems")
    parser.add_argument("--quick", action="store_true", help="two minutes: what says whether the core works")
    parser.add_argument("--all", action="store_true", help="everything; this takes hours")
    parser.add_argument("--systems", action="store_true",
                        help="all compilers of fresh Debian systems, as a table; --write puts it in docs/generated/compile-times.md")
    options, others = parser.parse_known_args()
    if others and not options.systems:
        parser.error(f"unknown option {others[0]}")
    ways = [options.name, options.since, options.quick, options.all, options.systems, options.rest, options.elsewhere]
    if sum(map(bool, ways)) > 1:
        parser.error("one of NAME, --since, --rest, --elsewhere, --quick, --all and --systems expected")
    if options.preset not in {each["name"] for each in presets("testPresets")} & {each["name"] for each in presets("buildPresets")}:
        parser.error(f"--with {options.preset}: a preset of CMakePresets.json that builds and tests expected")
    start, without = time.monotonic(), []
    if options.systems:
        is_set_up("systems")
        failed = script("systems/run.py", "--matrix", *others)
    elif options.quick:
        failed = workflow("quick")
    elif options.all:
        failed = run_everything(without)
    elif options.rest:
        failed = run_gcc("-rest")
    elif options.elsewhere:
        failed = run_elsewhere(without)
    elif options.since:
        failed = run_since(options.since)
    elif options.name:
        failed = run_matching(options.name, options.preset)
    else:
        failed = run_gcc()
    sys.exit(report(failed, without, time.monotonic() - start))


if __name__ == "__main__":
    main()
