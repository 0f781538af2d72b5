"""What is built and run in a system: the README's program by command lines, and parts of the project's tests by CMake."""

import re
import shlex
import shutil
from dataclasses import dataclass

import table

WARNINGS = "-Wall -Wextra -Wpedantic -Wshadow -Wconversion"
LACKS = "tilewright needs GCC 12 or Clang 18"
EXPECTED, MOST_OFF = 96.9, 0.5  # % of the test set
REFLECTION = "-std=c++26 -freflection"
# The compiler with which names without a macro are known to work. Another one's failure is `new`, and fails no test.
KNOWN_REFLECTION = "Debian 16.2.0-4"
WARNING = re.compile(r"^(\S+?):\d+:(?:\d+:)? warning:", re.MULTILINE)
OF_OTHERS = re.compile(r"/(xtensor|xtl|xsimd|boost)/")


@dataclass
class Row:
    """A row of the table."""
    system: str
    compiler: str
    options: str  # what is special about it
    verdict: str  # right, or what else it is
    seconds: float = 0
    megabytes: int = 0
    gpt_seconds: float = 0
    gpt_megabytes: int = 0


def readme_program(system):
    """The first program of README.md."""
    text = (system.source / "README.md").read_text()
    return next(block for block in re.findall(r"^```cpp\n(.*?)^```", text, re.MULTILINE | re.DOTALL) if "int main" in block)


def write_readme_program(system, has_macro=True):
    """The README's program as a file in the system; without the macro, members are declared as C++ does."""
    program = readme_program(system)
    if not has_macro:
        program = re.sub(r"BOOST_HANA_DEFINE_STRUCT\(\w+, (.*)\);", lambda match: re.sub(r"\(([^()]+), (\w+)\),?", r"\1 \2;", match[1]),
                         program)
    (system.root / "root/readme.cpp").write_text(program)


def compiler_options(system, command):
    """What CMakeLists.txt gives to users of a compiler."""
    text = (system.source / "CMakeLists.txt").read_text()
    name, major = name_of(system, command)
    names = ["Clang"] if name.startswith("Clang") else ["GNU", f"GNU_{major}"]
    return " ".join(" ".join(match[1].split()) for name in names
                    if (match := re.search(rf"^set\(tilewright_{name}_options ([^)]*)\)", text, re.MULTILINE)))


def name_of(system, command):
    """`GCC 14.2`, and its major version."""
    version = system.run(f"{command} -dumpfullversion -dumpversion", 60).output.split()[-1]
    major, minor = (version.split(".") + ["0"])[:2]
    return f"{'Clang' if 'clang' in command else 'GCC'} {major}.{minor}", int(major)


def compile_command(system, command, more, include="-I"):
    return (f"{command} -std=c++20 -O3 -march=native {WARNINGS} -DXTENSOR_USE_XSIMD {include} /source/include "
            f"{compiler_options(system, command)} {more}")


def own_warnings(output):
    return [path for path in WARNING.findall(output) if not OF_OTHERS.search(path)]


def essence(output):
    lines = [line for line in output.splitlines() if re.search(r"error|warning|killed|undefined", line)]
    return "\n".join(f"       {line[:220]}" for line in lines[:6])


def check_readme(report, system, command, more="", libraries="", what="README's program", fails=True, has_macro=True):
    """Compiles it with -I and -isystem, without warnings, and runs it. Returns the row."""
    write_readme_program(system, has_macro)
    name, _ = name_of(system, command)
    row = Row(system.name, name, (more + " " + libraries).strip(), "right")
    title = f"{system.name}, {name}{', ' + row.options if row.options else ''}: {what}"
    program = f"readme_{re.sub(r'[^A-Za-z0-9]+', '_', command + more)}"
    result = system.run(compile_command(system, command, f"{more} {libraries} readme.cpp -o {program} -pthread"), 600)
    row.seconds, row.megabytes, details = result.seconds, result.megabytes, ""
    warnings = own_warnings(result.output)
    if result.status == 0:
        checked = system.run(compile_command(system, command, f"{more} {libraries} -fsyntax-only readme.cpp", "-isystem"), 600)
        warnings += own_warnings(checked.output)
        ran = system.run(f"./{program}", 300)
        match = re.search(r"([\d.]+) % of the test set", ran.output)
        if not match or abs(float(match[1]) - EXPECTED) > MOST_OFF:
            row.verdict, details = f"wrong: {ran.output.strip()[-100:] or ran.status}", ran.output[-500:]
    else:
        row.verdict, details = "does not compile", essence(result.output)
    if warnings and row.verdict == "right":
        row.verdict, details = f"right, {len(warnings)} warnings", essence(result.output)
    is_right = row.verdict == "right"
    report.line("ok" if is_right else "FAIL" if fails else "new", f"{title}: {row.verdict}{'' if fails or is_right else ', fails'}, "
                f"{row.seconds:.1f} s, {row.megabytes} MB", details)
    return row


def check_refused(report, system, command, more=""):
    """A compiler or library that is too old: the first error says so, in at most five lines."""
    write_readme_program(system)
    name, _ = name_of(system, command)
    result = system.run(compile_command(system, command, f"{more} -fsyntax-only readme.cpp"), 300)
    lines = result.output.splitlines()
    is_right = result.status != 0 and len(lines) <= 5 and LACKS in next((line for line in lines if "error" in line), "")
    report.line("ok" if is_right else "FAIL", f"{system.name}, {name} {more}: is told that it is too old",
                "" if is_right else "\n".join(lines[:8]))


def check_gpt(system, command, row):
    """What compiling examples/gpt.cpp costs, into the row."""
    result = system.run(compile_command(system, command, "-w -I /source -c /source/examples/gpt.cpp -o gpt.o"), 900)
    if result.status == 0:
        row.gpt_seconds, row.gpt_megabytes = result.seconds, result.megabytes
    return result


def write_readme_project(system):
    """A project of the README's program, in /root/core."""
    write_readme_program(system)
    project = system.root / "root/core"
    project.mkdir(exist_ok=True)
    (project / "CMakeLists.txt").write_text("""cmake_minimum_required(VERSION 3.25)
project(core LANGUAGES CXX)
find_package(tilewright REQUIRED)
add_executable(core ../readme.cpp)
target_link_libraries(core PRIVATE tilewright::tilewright)
""")


BUILD_CORE = "cmake -S core -B core/b -G Ninja -DCMAKE_BUILD_TYPE=Release && cmake --build core/b && core/b/core"


def check_without_packages(report, system):
    """The README's program by CMake, from the Debian package that the system makes, without zlib, libpng, libzip and
    nlohmann_json."""
    write_readme_project(system)
    hidden = "usr/include/zlib.h usr/include/png.h usr/include/zip.h usr/include/nlohmann".split()
    for path in hidden:
        (system.root / path).rename(system.root / f"{path}.hidden")
    try:
        result = system.run("rm -rf core/b core/t && "
                            "cmake -S /source -B core/t -G Ninja -DTILEWRIGHT_BUILD_TESTS=OFF -DTILEWRIGHT_BUILD_EXAMPLES=OFF && "
                            f"(cd core/t && cpack -G DEB) && dpkg --install core/t/*.deb && {BUILD_CORE}", 600)
    finally:
        system.run("dpkg --purge tilewright", 60)
        for path in hidden:
            (system.root / f"{path}.hidden").rename(system.root / path)
    is_right = result.status == 0 and "of the test set are right" in result.output
    report.line("ok" if is_right else "FAIL", f"{system.name}: README's program from the Debian package, without zlib, libpng, "
                "libzip and nlohmann_json", "" if is_right else result.output[-1500:])


IMPORTED = """cmake_minimum_required(VERSION 3.28)
project(imported LANGUAGES CXX)
set(TILEWRIGHT_BUILD_TESTS OFF)
set(TILEWRIGHT_BUILD_EXAMPLES OFF)
add_subdirectory(/source tilewright)
add_executable(imported imported.cpp)
target_link_libraries(imported PRIVATE tilewright::tilewright)
target_compile_options(imported PRIVATE -march=native)
tilewright_import(imported)
"""


def check_import(report, system, command, fails=True):
    """The README's program with `import tilewright;` in place of headers. Returns the row: what the source costs beside the module."""
    project = system.root / "root/imported"
    project.mkdir(exist_ok=True)
    includes = re.compile(r"(#include <tilewright/.*>\n)+")
    (project / "imported.cpp").write_text("#include <tilewright/import.hpp>\n" +
                                          includes.sub("", readme_program(system)).replace("namespace tw =", "import tilewright;\nnamespace tw ="))
    (project / "CMakeLists.txt").write_text(IMPORTED)
    name, _ = name_of(system, command)
    row = Row(system.name, name, "import tilewright", "right")
    build = f"imported/{re.sub('[^a-z0-9]+', '-', command)}"
    result = system.run(f"rm -rf {build} && cmake -S imported -B {build} -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER={command} && "
                        f"cmake --build {build} && {build}/imported", 600)
    match = re.search(r"([\d.]+) % of the test set", result.output)
    if result.status != 0 or not match or abs(float(match[1]) - EXPECTED) > MOST_OFF:
        row.verdict = "wrong" if match else "does not compile"
    again = system.run(f"touch imported/imported.cpp && ninja -C {build} CMakeFiles/imported.dir/imported.cpp.o", 300)
    row.seconds, row.megabytes = again.seconds, again.megabytes
    report.line("ok" if row.verdict == "right" else "FAIL" if fails else "new",
                f"{system.name}, {name}: README's program with `import tilewright;`: {row.verdict}, {row.seconds:.1f} s, {row.megabytes} MB",
                "" if row.verdict == "right" else essence(result.output) + "\n" + result.output[-1500:])
    return row


def check_package(report, system, package):
    """A Debian package in a system that has a compiler, CMake and pkgconf alone: apt-get installs what it depends on. The README's
    program is built by CMake, and a program by pkg-config. Nothing of the package stays when it is removed."""
    write_readme_project(system)
    shutil.copy(package, system.root / "root")
    clean = "(apt-get purge -y -qq --autoremove tilewright || true)"  # of a run that failed
    install = f"apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq ./{package.name}"
    by_pkg_config = ("g++ -std=c++20 -O1 /source/tests/package/session.cpp -o session $(pkg-config --cflags --libs tilewright) && "
                     "./session")
    remove = "apt-get purge -y -qq --autoremove tilewright && ! ls -d /usr/include/tilewright /usr/share/cmake/tilewright"
    result = system.run(f"rm -rf core/b && {clean} && {install} && {BUILD_CORE} && {by_pkg_config} && {remove}", 900)
    is_right = result.status == 0 and "of the test set are right" in result.output and ": 7 0 0 22" in result.output
    report.line("ok" if is_right else "FAIL", f"{system.name}: {package.name} installed by apt-get, used by CMake and by "
                f"pkg-config, removed, {result.seconds:.0f} s", "" if is_right else result.output[-1500:])


def check_tests(report, system, configuration, targets, tests, what, fails=True):
    """Builds targets of the project by CMake, and runs the tests."""
    options = " ".join(f"-D{name}={shlex.quote(value)}" for name, value in configuration.items())
    build = f"build-{re.sub(r'[^a-z0-9]+', '-', what.lower())}"
    result = system.run(f"rm -rf {build} && cmake -S /source -B {build} -G Ninja -DCMAKE_BUILD_TYPE=Release {options} && "
                        f"cmake --build {build} -j1 --target {' '.join(targets)} && "
                        f"ctest --test-dir {build} --output-on-failure --no-tests=error -R {shlex.quote(tests)}", 1500)
    count = re.search(r"tests passed, \d+ tests failed out of (\d+)", result.output)
    report.line("ok" if result.status == 0 else "FAIL" if fails else "new",
                f"{system.name}: {what}{f', {count[1]} tests' if count else ''}{'' if fails or result.status == 0 else ', fails'}, "
                f"{result.seconds:.0f} s", "" if result.status == 0 else essence(result.output) + "\n" + result.output[-1500:])


def check_reflection(report, system, command="g++", trains=False):
    """Modules without the macro, where the compiler has reflection; with `trains`, the README's program, too."""
    fails = KNOWN_REFLECTION in system.run(f"{command} --version", 60).output
    result = system.run(compile_command(system, command, f"{REFLECTION} -fsyntax-only /source/tests/systems/reflection.cpp"), 600)
    is_right = result.status == 0 and not own_warnings(result.output)
    report.line("ok" if is_right else "FAIL" if fails else "new",
                f"{system.name}, {name_of(system, command)[0]}, {REFLECTION}: names of members without the macro"
                f"{'' if fails or is_right else ', fails'}", "" if is_right else essence(result.output))
    if trains:
        check_readme(report, system, command, REFLECTION, what="README's program without the macro", fails=fails, has_macro=False)


def check_default(report, system):
    """With the system's default compiler, which does not fail the test if it is newer than the table's."""
    name, major = name_of(system, "g++")
    fails = f"GCC {major}" in table.compilers()
    check_readme(report, system, "g++", fails=fails)
    if major >= 16:
        check_reflection(report, system)
        check_import(report, system, "g++", fails)
    check_without_packages(report, system)
    check_tests(report, system, {"TILEWRIGHT_STATIC_TESTS": "quick", "TILEWRIGHT_RUN_TESTS": "systems", "TILEWRIGHT_EXAMPLES": "systems",
                                 "TILEWRIGHT_WARNINGS_AS_ERRORS": "ON"},
                ["static_tests", "run_tests", "mnist"],
                r"^static/|^run/|^example/mnist$", f"static tests, layers, reductions, strict mode and examples/mnist.cpp with {name}", fails)


def check_matrix(report, system, newest_clang):
    """All compilers of the system, and instruction sets."""
    def measured(command):
        row = check_readme(report, system, command)
        check_gpt(system, command, row)
        report.rows.append(row)

    def with_options(command, *options):
        for more in options:
            report.rows.append(check_readme(report, system, command, more, what="README's program"))

    if system.suite == "bookworm":
        measured("g++-12")
        measured("clang++-19")
        flags = system.run("grep -m1 flags /proc/cpuinfo", 60).output.split()
        sets = ["x86-64", "x86-64-v2", *(["x86-64-v3"] if "avx2" in flags else []), *(["x86-64-v4"] if "avx512vl" in flags else [])]
        with_options("g++-12", *(f"-march={name}" for name in sets))
        check_tests(report, system, {"TILEWRIGHT_BUILD_EXAMPLES": "OFF"}, ["arm"], "^arm/", "aarch64 by GCC and Clang, under QEMU")
        check_without_packages(report, system)
    elif system.suite == "trixie":
        for command in ["g++-12", "g++-13", "g++-14", "clang++-18", "clang++-19"]:
            measured(command)
        check_refused(report, system, "clang++-17")
        check_refused(report, system, "clang++-19", "-stdlib=libc++")
    else:
        clang = f"clang++-{newest_clang}"
        for command in ["g++-15", "g++-16", clang]:
            measured(command)
        report.rows.append(check_readme(report, system, clang, libraries="-stdlib=libc++"))
        for command in ["g++-16", clang]:
            with_options(command, "-std=c++23", "-std=c++26", "-std=gnu++20")
        report.rows += [check_import(report, system, command) for command in ["g++-16", clang]]
        check_reflection(report, system, "g++-16", trains=True)
        check_refused(report, system, "g++-11")
