#!/usr/bin/env python3
"""The file for GitHub's continuous integration is YAML, short, says that it is untested, and calls .ci/run. Without
python3-yaml, this test is skipped.
"""

import json
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
WORKFLOW = PROJECT / ".github" / "workflows" / "ci.yml"
MOST_LINES = 30
SKIPPED = 77
READ = "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)"


def interpreter():
    """A Python that has yaml: this one, or the system's."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import yaml"], capture_output=True).returncode == 0:
            return python
    print("no python3-yaml")
    sys.exit(SKIPPED)


def check(text, workflow):
    """What is wrong, one line each."""
    if len(text.splitlines()) > MOST_LINES:
        yield f"{len(text.splitlines())} lines: at most {MOST_LINES} expected"
    if not text.startswith("# Untested: "):
        yield "a first line that says that the file is untested expected"
    if set(workflow) != {"name", "on", "jobs"}:
        yield f"keys {', '.join(workflow)}: name, on and jobs expected"
    commands = []
    for name, job in workflow.get("jobs", {}).items():
        if not {"runs-on", "steps", "timeout-minutes"} <= set(job):
            yield f"job {name}: runs-on, steps and timeout-minutes expected"
        for step in job.get("steps", []):
            if ("run" in step) == ("uses" in step):
                yield f"job {name}: step {step}: either run or uses expected"
            commands += step.get("run", "").splitlines()
    if ".ci/run" not in commands:
        yield "no step .ci/run"


def main():
    text = WORKFLOW.read_text()
    read = subprocess.run([interpreter(), "-c", READ], input=text, capture_output=True, text=True)
    problems = [read.stderr.strip()] if read.returncode else list(check(text, json.loads(read.stdout)))
    passed = f"{WORKFLOW.name}: {len(text.splitlines())} lines, calls .ci/run"
    print("\n".join(f"{WORKFLOW}: {problem}" for problem in problems) or passed)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
