#!/usr/bin/env python3
"""Each function of docs/generated/ops/ that takes a handle of a tensor, a graph, a stream or a remote buffer is given handles of nothing by
tests/run/programs/no_handles.cpp, or by an op's file in tests/ops."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from public_numbers import INCLUDE, TESTS, function_parameters, ops_page  # noqa: E402

HANDLE = re.compile(r"\b(?:Tensor|Graph|RemoteBuffer|HostToDeviceStream|DeviceToHostStream|Operand auto)\b")


def functions():
    for header in ops_page.op_headers():
        for name, overloads in ops_page.op_functions((INCLUDE / header).read_text()).items():
            if any(HANDLE.search(parameter) for each in overloads for parameter in function_parameters(each.head)):
                yield name


def main():
    tested = set(re.findall(r'^    \{"(\w+)",', (TESTS / "run/programs/no_handles.cpp").read_text(), re.MULTILINE))
    for path in (TESTS / "ops").rglob("*.hpp"):  # their members `handles`, or those of functions of one tensor
        for struct in path.read_text().split("\nstruct "):
            names = re.findall(r'(?:list\.add\(| function = )"(\w+)"', struct)
            tested |= set(names) | ({f"{name}_" for name in names} if " in_place = " in struct else set())
    public = list(dict.fromkeys(functions()))
    missing = [name for name in public if name not in tested]
    print("\n".join(f"{name}: not in tests/run/programs/no_handles.cpp: a case expected" for name in missing)
          or f"{len(public)} functions take handles: each is given handles of nothing")
    sys.exit(bool(missing or not public))


if __name__ == "__main__":
    main()
