#!/usr/bin/env python3
"""Tests ./dev and tests/run_all.py in a small made-up project, with stand-ins for apt-get, dpkg, cmake and ctest. They write down
how they are called; nothing is installed or built."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
# Writes results as CTest does, where $FAILS_TEST is a test that fails, one that could not be built, and one that is skipped.
CTEST = r'''echo "ctest $*" >> "$CALLS"
case "$*" in *--print-labels) printf "Labels:\n  quick\n  target:one\n";; esac
case "$*" in *"--show-only=json-v1") cat "$CALLS.json"; exit;; *--show-only) cat "$CALLS.names"; exit;; esac
[ -n "$FAILS_TEST" ] || exit 0
cat > "$RESULTS" <<EOF
<testsuite>
  <testcase name="run/right" time="1" status="run"/>
  <testcase name="$FAILS_TEST" time="66" status="fail"><failure message="Failed"/></testcase>
  <testcase name="run/unbuilt" time="0" status="notrun"><skipped message="Unable to find executable"/></testcase>
  <testcase name="run/left" time="0" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>
</testsuite>
EOF
exit 8'''
# $MISSING and $UNAVAILABLE are packages. An installation changes nothing.
STAND_INS = {
    "dpkg-query": 'for each; do :; done\ncase " $MISSING " in *" $each "*) exit 1;; esac\nprintf installed',
    "apt-get": 'echo "apt-get $*" >> "$CALLS"',
    "apt-cache": 'case " $UNAVAILABLE " in *" $2 "*) echo "  Candidate: (none)";; *) echo "  Candidate: 1.0";; esac',
    "cmake": 'echo "cmake $*" >> "$CALLS"\n[ "$*" != "--build --preset $FAILS -- -k 0" ]',
    "ctest": CTEST,
    "sudo": 'while [ "${1#-}" != "$1" ]; do shift; done\nexec "$@"',
}
TOOLS = "awk basename bash cat dirname env find grep id mkdir nproc paste sed sh sort".split()  # of the system, and no others
PROGRAM = '#!/bin/sh\necho "program $(basename "$0") $* in $PWD"\n'


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


class DevTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name).resolve()
        self.project, self.calls_file = self.folder / "project", self.folder / "calls"
        for name in ("dev", "cmake/packages.txt", "tests/run_all.py", "CMakePresets.json"):
            (self.project / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(PROJECT / name, self.project / name)
        for name in ("mnist", "lessons/01_layer", "lessons/03_mnist", "lessons/04_train", "more/unet", "tutorial/options",
                     "reports/mnist"):
            path = self.project / f"examples/{name}.cpp"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("// labels: none\n")
            script(self.project / f"build/gcc/examples/{path.stem}", PROGRAM)
        (self.project / "examples/more/unet.cpp").write_text("// labels: more instances\n")
        script(self.project / "build/gcc/examples/report_mnist", PROGRAM)
        script(self.project / "examples/launch.py", "import sys\nprint('launch', *sys.argv[1:])\n")
        for path in ("docs/site/build.py", "examples/browser/make_page.py"):
            script(self.project / path, f"import sys\nprint('{Path(path).stem}', *sys.argv[1:])\n")
        script(self.project / "tests/systems/run.py", "import sys\nopen(sys.argv[2], 'w').write('Debian sid (no network)')\n")
        for name, text in STAND_INS.items():
            script(self.folder / "bin" / name, f"#!/bin/sh\n{text}\n")
        for name in TOOLS:
            (self.folder / "bin" / name).symlink_to(shutil.which(name))
        script(self.folder / "bin/python3", f'#!/bin/sh\nexec {sys.executable} "$@"\n')

    def dev(self, *arguments, **variables):
        """The status, standard output, standard error without colours, and the calls of stand-ins."""
        self.calls_file.unlink(missing_ok=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("TILEWRIGHT_", "CMAKE_"))}
        environment |= {"PATH": str(self.folder / "bin"), "CALLS": str(self.calls_file), **variables}
        result = subprocess.run([self.project / "dev", *arguments], env=environment, cwd=self.folder, capture_output=True,
                                text=True)
        calls = self.calls_file.read_text().splitlines() if self.calls_file.exists() else []
        return result.returncode, result.stdout, re.sub(r"\033\[\d*m", "", result.stderr), calls

    def test_setup_installs_what_is_missing(self):
        self.assertEqual(self.dev("setup", "mpi"), (0, "", "", []))
        status, _, says, calls = self.dev("setup", "mpi", "graphviz", MISSING="openmpi-bin graphviz")
        self.assertEqual((status, says), (0, "== ./dev setup mpi graphviz: installing openmpi-bin graphviz\n"))
        self.assertEqual([call.split()[1] for call in calls], ["update", "install"])
        self.assertTrue(calls[1].endswith(" openmpi-bin graphviz"), calls)

    def test_setup_says_what_it_cannot_do(self):
        status, _, says, calls = self.dev("setup", "mpi", MISSING="openmpi-bin", UNAVAILABLE="openmpi-bin")
        self.assertEqual((status, calls), (1, ["apt-get update -qq"]))
        self.assertIn("no package source has openmpi-bin", says)
        status, _, says, _ = self.dev("setup", "nothing")
        self.assertEqual(status, 1)
        self.assertIn("There are: build mpi clang", says)

    def test_a_command_serves_as_well_as_its_package(self):
        script(self.folder / "bin/node", "#!/bin/sh\n")
        self.assertEqual(self.dev("setup", "node", MISSING="nodejs"), (0, "", "", []))

    def test_commands_set_up_first(self):
        status, prints, says, calls = self.dev("example", "unet", "--steps", "2", MISSING="ninja-build")
        self.assertEqual((status, says), (0, "== ./dev setup build: installing ninja-build\n"))
        self.assertEqual(calls[2:], ["cmake --preset gcc", "cmake --build --preset gcc --target unet"])
        self.assertEqual(prints, f"program unet --steps 2 in {self.folder}\n")  # where the caller stands

    def test_a_command_ends_if_set_up_fails(self):
        status, prints, _, calls = self.dev("mnist", MISSING="g++", UNAVAILABLE="g++")
        self.assertEqual((status, prints, calls), (1, "", ["apt-get update -qq"]))

    def test_configuration_is_shown_if_it_fails(self):
        script(self.folder / "bin/cmake", 'echo "progress of $1"; echo "a warning of $1" >&2; [ "$1" != "$FAILS" ]')
        self.assertEqual(self.dev("example", "unet", FAILS="")[2],
                         "a warning of --preset\nprogress of --build\na warning of --build\n")
        status, prints, says, _ = self.dev("example", "unet", FAILS="--preset")
        self.assertEqual((status, prints, says), (1, "", "a warning of --preset\nprogress of --preset\n"))

    def test_examples_by_name_and_number(self):
        for given, name in {"4": "04_train", "04": "04_train", "train": "04_train", "04_train": "04_train", "unet": "unet",
                            "mnist": "mnist", "3": "03_mnist"}.items():
            self.assertEqual(self.dev("example", given)[1].split()[1], name)
        for wrong in ("options", "2", "", "tra", "none"):
            status, _, says, calls = self.dev("example", wrong)
            self.assertEqual((status, calls), (1, []), wrong)
            self.assertEqual(says, "== which example? There are: 01_layer 03_mnist 04_train mnist unet\n")

    def test_reports_and_launches(self):
        status, prints, _, calls = self.dev("report", "mnist", DISPLAY="", WAYLAND_DISPLAY="")
        self.assertEqual((status, calls[-1]), (0, "cmake --build --preset gcc --target report_mnist"))
        self.assertEqual(prints.splitlines(), [f"program report_mnist build/reports/mnist in {self.project}",
                                               f"{self.project}/build/reports/mnist.html"])
        status, prints, says, calls = self.dev("launch", "2", "unet", "--steps", "3", MISSING="openmpi-bin")
        self.assertEqual((status, says), (0, "== ./dev setup build mpi: installing openmpi-bin\n"))
        self.assertEqual(prints, f"launch 2 {self.project}/build/gcc/examples/unet --steps 3\n")

    def test_site(self):
        status, prints, says, calls = self.dev("docs", "--site", "--into", "x", MISSING="mkdocs")
        self.assertEqual((status, says), (0, "== ./dev setup docs wasm: installing mkdocs\n"))
        self.assertEqual(calls[-1], "cmake --build --preset gcc --target report_mnist")  # a page shows it
        self.assertEqual(prints.splitlines()[-3:], [
            "make_page examples/browser/digits/digits.hpp build/reports/digits.html",
            "make_page examples/browser/gpt/gpt.hpp build/reports/gpt.html", "build --into x"])

    def test_mistakes(self):
        self.assertIn("which example that runs in several processes? There are: unet\n", self.dev("launch", "2", "mnist")[2])
        self.assertIn("how many processes?", self.dev("launch", "mnist")[2])
        self.assertIn("which report? There are: mnist\n", self.dev("report")[2])
        self.assertIn("unknown command 'x'", self.dev("x")[2])
        self.assertEqual([self.dev(*each.split())[0] for each in ("launch 2 mnist", "launch mnist", "report", "x")], [1] * 4)

    def test_help_names_all_commands(self):
        commands = re.search(r"^case \$command in\n(.*?)^esac", (PROJECT / "dev").read_text(), re.MULTILINE | re.DOTALL)[1]
        names = {name for line in re.findall(r"^  ([a-z-][a-z |-]*)\)", commands, re.MULTILINE) for name in line.split(" | ")}
        prints = self.dev("help")[1]
        self.assertGreater(len(names), 10)
        for name in names - {"-h", "--help"}:
            self.assertIn(f"./dev {name}", prints)
        self.assertEqual(self.dev()[1], prints)

    def calls_of_workflow(self, name, configuration=None, build=None, test=None):
        results = self.project / f"build/{test or name}.xml"
        return [f"cmake --preset {configuration or name}", f"cmake --build --preset {build or name} -- -k 0",
                f"ctest --preset {test or name} --output-junit {results}"]

    def test_parts_of_the_tests(self):
        self.assertEqual(self.dev("test")[::3], (0, self.calls_of_workflow("gcc", test="gcc-first")))
        self.assertEqual(self.dev("test", "--rest")[::3], (0, self.calls_of_workflow("gcc-rest", "gcc")))
        portable = self.calls_of_workflow("portable") if "avx2" in Path("/proc/cpuinfo").read_text() else []
        clang = self.calls_of_workflow("clang", test="clang-usual")
        script(self.folder / "bin/clang++-19", "#!/bin/sh\n")
        status, _, says, calls = self.dev("test", "--elsewhere")
        self.assertEqual((status, calls), (0, portable + clang))
        self.assertRegex(says.splitlines()[-1], r"^== passed in \d+ s WITHOUT Debian sid \(no network\)$")
        # one that fails does not end the others
        status, _, says, calls = self.dev("test", "--elsewhere", FAILS="clang")
        self.assertEqual((status, calls), (1, portable + clang))
        self.assertIn("the build of clang\n  cmake --build --preset clang  # ", says)
        self.assertNotIn("passed", says)

    def test_what_failed_is_listed_with_what_repeats_it(self):
        log = self.project / "build/gcc/.ninja_log"
        entry = ["0", "30000", "1", "tests/CMakeFiles/run_others_1.dir/joined/run_others_1.cpp.o", "abc"]
        log.write_text("# ninja log v5\n" + "\t".join(entry) + "\n")
        Path(f"{self.calls_file}.json").write_text(json.dumps(
            {"tests": [{"name": "run/wrong", "properties": [{"name": "LABELS", "value": ["joined", "target:run_others_1"]}]}]}))
        status, _, says, _ = self.dev("test", FAILS_TEST="run/wrong", RESULTS=str(self.project / "build/gcc-first.xml"))
        self.assertEqual((status, says.splitlines()[-4:]),
                         (1, ["run/wrong", "  ./dev test '^run/wrong$'  # 1.6", "run/unbuilt", "  ./dev test '^run/unbuilt$'  # 0.0"]))
        self.assertRegex(says.splitlines()[-5], "^== 2 failed in . s; each alone, with the minutes that it took:$")

    def test_without_clang(self):
        status, _, says, calls = self.dev("test", "--elsewhere", MISSING="clang-19", UNAVAILABLE="clang-19")
        self.assertEqual(status, 0)
        self.assertNotIn("cmake --preset clang", calls)
        self.assertRegex(says.splitlines()[-1], r" WITHOUT CLANG: install clang-19 .* WITHOUT Debian sid")

    def test_other_ways_of_testing(self):
        self.assertEqual(self.dev("test", "--quick")[3], self.calls_of_workflow("quick"))
        for options, preset in ([], "gcc"), (["--with", "clang"], "clang"):
            calls = self.dev("test", *options, "static/x")[3]
            self.assertEqual(calls[-2:], [f"cmake --build --preset {preset} --target one -- -k 0",
                                          f"ctest --preset {preset} --tests-regex static/x --no-tests=error --output-junit "
                                          f"{self.project}/build/{preset}.xml"])
        for wrong, text in {"--quack": "unknown option --quack", "--with none x": "--with none: a preset of CMakePresets.json",
                            "--quick x": "one of NAME, --since, --rest"}.items():
            status, _, says, calls = self.dev("test", *wrong.split())
            self.assertEqual((status, calls), (2, []), wrong)
            self.assertIn(text, says)

    def test_since_a_commit(self):
        """By a made-up list of files of two targets: a source that one of them reads has changed, then a header, then nothing."""
        for name in ("git", "sed"):
            (self.folder / "bin" / name).unlink(missing_ok=True)
            (self.folder / "bin" / name).symlink_to(shutil.which(name))
        (self.project / ".gitignore").write_text("/build/\n")
        for name in ("include/x.hpp", "tests/run/a.cpp", "tests/run/b.cpp"):
            (self.project / name).parent.mkdir(parents=True, exist_ok=True)
            (self.project / name).write_text("")
        git = ["git", "-C", self.project, "-c", "user.name=a", "-c", "user.email=a@b"]
        for command in ("init -q", "add .", "commit -qm a"):
            subprocess.run([*git, *command.split()], check=True)
        deps = "".join(f"tests/CMakeFiles/run_{each}.dir/run/{each}.cpp.o: #deps 2, deps mtime 1 (VALID)\n    ../../tests/run/{each}.cpp\n"
                       "    ../../include/x.hpp\n\n" for each in "ab")
        script(self.folder / "bin/ninja", f"#!/bin/sh\ncat <<'EOF'\n{deps}EOF\n")
        labels = {"run/a": "target:run_a", "run/b": "target:run_b", "rules/r": "quick", "fail/f": "quick"}
        Path(f"{self.calls_file}.json").write_text(json.dumps({"tests": [
            {"name": name, "properties": [{"name": "LABELS", "value": [label]}]} for name, label in labels.items()]}))
        Path(f"{self.calls_file}.names").write_text("".join(f"  Test #{i + 1}: {name}\n" for i, name in enumerate(labels)))

        def chosen():
            calls = self.dev("test", "--since", "HEAD")[3]
            return calls[-1].split()[calls[-1].split().index("-I") + 1], [call for call in calls if "--target" in call]

        self.assertEqual(chosen(), ("0,0,0,3", []))
        (self.project / "tests/run/b.cpp").write_text("//\n")
        self.assertEqual(chosen(), ("0,0,0,2,3", ["cmake --build --preset gcc --target run_b -- -k 0"]))
        (self.project / "include/x.hpp").write_text("//\n")
        self.assertEqual(chosen(), ("0,0,0,1,2,3,4", ["cmake --build --preset gcc --target run_a run_b -- -k 0"]))
        status, _, says, _ = self.dev("test", "--since", "nothing")
        self.assertEqual(status, 1)
        self.assertIn("--since nothing: a commit of this repository expected", says)

    def test_only_setup_installs(self):
        text = (PROJECT / "dev").read_text()
        self.assertLessEqual(text.count("\n"), 180)
        setup = re.search(r"^setup\(\) \{\n.*?^\}\n", text, re.MULTILINE | re.DOTALL)[0]
        self.assertIn("apt-get install", setup)
        self.assertNotIn("apt-get", text.replace(setup, ""))

    def test_shellcheck(self):
        if not shutil.which("shellcheck"):
            self.skipTest("no shellcheck")
        result = subprocess.run(["shellcheck", PROJECT / "dev"], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_scripts_name_purposes_and_workflows_that_exist(self):
        sys.path[:0] = [str(PROJECT / "tests"), str(PROJECT / "benchmarks")]
        import run as benchmarks
        import run_all
        purposes = set(re.findall(r"^(\w+):", (PROJECT / "cmake/packages.txt").read_text(), re.MULTILINE))
        used = {*run_all.OPTIONAL, *run_all.OPTIONAL_OF_ALL, *benchmarks.PEERS}
        used |= {purpose for kind in benchmarks.KINDS.values() for purpose in (*kind.needs, *kind.peers)}
        self.assertLessEqual(used, purposes)
        scripts = [PROJECT / "benchmarks" / kind.script for kind in benchmarks.KINDS.values() if kind.script]
        self.assertEqual([path for path in scripts if not path.is_file()], [])


if __name__ == "__main__":
    unittest.main()
