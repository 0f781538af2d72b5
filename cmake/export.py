#!/usr/bin/env python3
"""Makes a library of programs for C, or a module for browsers and node: this is `./dev export SOURCE PROGRAM... --c FOLDER` or
`--wasm FOLDER`, and tilewright_export of CMake.

SOURCE is a C++ header with modules and programs; it needs no includes but those of layers and the like, and has no sessions. In
FOLDER appear net.h and libnet.a, or net.wasm, net.js and net.d.ts, where `net` is the folder's name, or --name. The programs share
variables of equal names, and one block of memory that the caller gives:

    ./dev export net.hpp train_step infer --c net
    gcc main.c -Inet -Lnet -lnet

    ./dev export net.hpp train_step infer --wasm net

With --read-only, variables that no program changes are not in that memory: net_init uses them in place from a .safetensors file,
which may be in flash:

    ./dev export net.hpp infer --c net --read-only
"""

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import export_wasm

PREFIX = Path(__file__).resolve().parent
# Code without exceptions, run-time types, and what else needs a library of C++.
OPTIONS = shlex.split("-std=c++20 -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-math-errno -fvisibility=hidden "
                      "-ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables")
HOST_OPTIONS = ["-DXTENSOR_USE_XSIMD", "-fPIC"]
WASM_OPTIONS = ["--target=wasm32-wasi", "-msimd128", "-mbulk-memory", "-Wno-extern-initializer", "-Wno-unused-command-line-argument"]
WASM_LINKS = ["-nostdlib", "-Wl,--no-entry", "-Wl,--stack-first", "-Wl,-z,stack-size=1048576", "-Wl,--strip-all"]
SYSTEM_FOLDERS = [Path("/usr/include"), Path("/usr/local/include")]
LIMITS = {"GNU": "-fconstexpr-ops-limit=4000000000 -fconstexpr-loop-limit=100000000 -fconstexpr-depth=4096",
          "Clang": "-fconstexpr-steps=2000000000 -fconstexpr-depth=1024 -fbracket-depth=4096 -ftemplate-depth=4096"}
TYPES = {"bool": "bool", "float32": "float", "float64": "double", "float16": "uint16_t", "bfloat16": "uint16_t",
         "float8_143": "uint8_t", "float8_152": "uint8_t"}
# Of C and C++, and macros of the headers that net.h includes: a parameter has another name.
KEYWORDS = set("""alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do double
dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not
not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires restrict return short signed sizeof
static static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned
using virtual void volatile wchar_t while xor xor_eq NULL linux unix typeof""".split())
FACTS = re.compile(rb"bytes \d+\nalignment \d+\nfile \d+\n(?:(?:program|(?:variable|stream) [^\n]+)\n)*")  # ExportedPrograms::facts
RESULTS = ["done", "fault", "not_initialised", "shared_memory", "missing_array", "misaligned_memory", "unfit_number", "unfit_file"]

SOURCE = """#include <tilewright/embedded.hpp>
#include <tilewright/session/one_object/exported_programs.hpp>
#include "{source}"

// programs of this library alone: two libraries may have programs of one name
namespace tilewright_export_{name} {{
{programs}
using Programs = tilewright::ExportedPrograms<tilewright::{target}, tilewright::UnchangedVariables::{unchanged}, {list}>;
{facts} auto facts = tilewright::exported_text<[] {{ return Programs::facts(); }}>;
}}  // namespace tilewright_export_{name}

using tilewright_export_{name}::Programs;
extern "C" [[gnu::visibility("default")]] int {name}_init(void* memory, {file_parameters}std::uint64_t seed,
                                                          tilewright::ExportedStatus* status) {{
  return Programs::init(memory, {file_arguments}seed, status);
}}
extern "C" [[gnu::visibility("default")]] int {name}_load(void* memory, const void* file, std::size_t bytes,
                                                          tilewright::ExportedStatus* status) {{
  return Programs::load(memory, file, bytes, status);
}}
extern "C" [[gnu::visibility("default")]] int {name}_save(void* memory, void* file, std::size_t bytes,
                                                          tilewright::ExportedStatus* status) {{
  return Programs::save(memory, file, bytes, status);
}}
{runs}
"""
RUN = """extern "C" int {name}_run_arrays_{p}(void* memory, void* const* arrays, tilewright::ExportedStatus* status) {{
  return Programs::run<{p}>(memory, arrays, status);
}}"""

HEADER = """/* {programs} of {source}, for C. Written by tilewright's cmake/export.py.

   All functions take the memory of a network: {NAME}_BYTES bytes at a multiple of {NAME}_ALIGNMENT. A copy of these bytes is a
   copy of the network. One thread at a time may use it. Functions return {name}_done, or what is wrong; if `status` is not null,
   it gets the details. Arrays are dense, in row-major order, aligned as their elements, and share no memory. float16, bfloat16
   and float8 are given by their bits. */
#ifndef {NAME}_H
#define {NAME}_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {{
#endif

#define {NAME}_BYTES {bytes}
#define {NAME}_ALIGNMENT {alignment}
#define {NAME}_FILE_BYTES {file}
#define {NAME}_VARIABLES {variable_count}

enum {name}_result {{
{results}
}};

/* What is wrong. A fault: an op met values with which it cannot compute, and the run went on with others in their place. Its
   text is `before`, `value`, `after`. */
typedef struct {name}_status {{
  const char *before, *after;
  int64_t value, more, others; /* one of the values, the number of others at this op, and of other ops with such values */
}} {name}_status;

typedef struct {name}_variable {{
  const char *name, *dtype;
  size_t offset; /* in bytes, in the memory */
  int rank;
  int64_t shape[6];
}} {name}_variable;
extern const {name}_variable {name}_variables[{table_size}];
/* The numbers above, for languages that do not read this header. */
extern const size_t {name}_bytes, {name}_alignment, {name}_file_bytes, {name}_count_of_variables;

/* Gives the variables the initial values of a seed. Call it first, and again to start anew.{read_only} */
int {name}_init(void* memory, {file_parameters}uint64_t seed, {name}_status* status);
/* Reads all variables from a .safetensors file, which is in memory of any alignment. If it does not have them all, or is damaged,
   nothing changes. Call init first. */
int {name}_load(void* memory, const void* file, size_t bytes, {name}_status* status);
/* Writes all variables as a .safetensors file of {NAME}_FILE_BYTES bytes; `bytes` is the size of the memory at `file`. */
int {name}_save(void* memory, void* file, size_t bytes, {name}_status* status);
{declarations}
#ifdef __cplusplus
}}
#endif
#endif
"""


READ_ONLY = """
   Those that no program changes are not in the memory, nor in files of load and save: they are used in place from a .safetensors
   file at a multiple of 8, which stays as it is while the network is used."""


def c_type(dtype):
    return TYPES.get(dtype, f"{dtype}_t")


def c_names(names, before="", taken=()):
    """A name of C for each name, after `before`. What C does not take is _; a name that is taken already gets more of them."""
    result = []
    for name in names:
        word = before + re.sub(r"\W", "_", name, flags=re.ASCII)
        word = word if re.match(r"[A-Za-z_]", word) else f"_{word}"
        while word in KEYWORDS or word in taken or word in result:
            word += "_"
        result.append(word)
    return result


def c_text(name):
    """A name as a text of C."""
    return re.sub(r"(\\\\)|\\u00(..)", lambda each: each[1] or f"\\{int(each[2], 16):03o}", json.dumps(name, ensure_ascii=False))


def read_facts(text):
    """The numbers, variables, streams of each program, and read-only variables with the places of their pointers."""
    def shape_and_name(words):
        rank = int(words[0])
        return words[1:1 + rank], re.sub(r"\\(.)", lambda each: "\n" if each[1] == "n" else each[1], " ".join(words[1 + rank:]))

    numbers, variables, programs, read_only = {}, [], [], []
    for line in text.removesuffix("\n").split("\n"):
        kind, *words = line.split(" ")
        if kind == "program":
            programs.append([])
        elif kind in ("variable", "read-only"):
            shape, name = shape_and_name(words[2:])
            (variables if kind == "variable" else read_only).append((name, words[0], int(words[1]), shape))
        elif kind == "stream":
            shape, name = shape_and_name(words[3:])
            programs[-1].append((name, words[0] == "in", int(words[1]), words[2], shape))
        else:
            numbers[kind] = int(words[0])
    return numbers, variables, programs, read_only


def write_c(name, source, names, facts):
    """The text of the header, and of a C source with the table of variables and the functions that run programs."""
    numbers, variables, programs, read_only = facts
    declarations, lines = [], [f'#include "{name}.h"', ""]
    rows = [f'  {{{c_text(v)}, "{dtype}", {offset}, {len(shape)}, {{{", ".join(shape) or "0"}}}}},' for v, dtype, offset, shape in variables]
    lines += [f"const {name}_variable {name}_variables[{max(1, len(rows))}] = {{", *(rows or ["  {0}"]), "};",
              f"const size_t {name}_bytes = {name.upper()}_BYTES, {name}_alignment = {name.upper()}_ALIGNMENT;",
              f"const size_t {name}_file_bytes = {name.upper()}_FILE_BYTES;",
              f"const size_t {name}_count_of_variables = {name.upper()}_VARIABLES;", ""]
    for p, (program, streams) in enumerate(zip(names, programs)):
        types = {c_type(dtype) for _, _, _, dtype, _ in streams}
        parameters = c_names([stream for stream, *_ in streams], taken={"memory", "arrays", "status", f"{name}_status", *types})
        arguments = [f"{'const ' if is_input else ''}{c_type(dtype)}* {each}"
                     for each, (_, is_input, _, dtype, _) in zip(parameters, streams)]
        head = f"int {name}_run_{program}({', '.join(['void* memory', *arguments, f'{name}_status* status'])})"
        shapes = ", ".join(f"{each} ({', '.join(shape)}) {dtype}" for each, (_, _, _, dtype, shape) in zip(parameters, streams))
        declarations.append(f"/* {shapes} */\n{head};")
        count = 1 + max((number for _, _, number, _, _ in streams), default=0)
        lines += [f"int {name}_run_arrays_{p}(void* memory, void* const* arrays, {name}_status* status);", f"{head} {{",
                  f"  void* arrays[{count}] = {{0}};",
                  *(f"  arrays[{number}] = (void*){each};" for each, (_, _, number, _, _) in zip(parameters, streams)),
                  f"  return {name}_run_arrays_{p}(memory, arrays, status);", "}", ""]
    accessors = c_names([variable for variable, *_ in variables + read_only], before=f"{name}_variable_")
    for v, (each, (_, dtype, offset, shape)) in enumerate(zip(accessors, variables + read_only)):
        is_read_only = v >= len(variables)
        head = f"const {c_type(dtype)}* {each}(const void* memory)" if is_read_only else f"{c_type(dtype)}* {each}(void* memory)"
        declarations.append(f"/* ({', '.join(shape)}) {dtype}{', read-only' if is_read_only else ''} */\n{head};")
        place = f"(char*)memory + {offset}"
        lines += [f"{head} {{ return {f'*(void**)({place})' if is_read_only else f'({c_type(dtype)}*)({place})'}; }}"]
    header = HEADER.format(name=name, NAME=name.upper(), source=Path(source).name, programs=" and ".join(names),
                           bytes=numbers["bytes"], alignment=numbers["alignment"], file=numbers["file"], variable_count=len(variables),
                           table_size=max(1, len(variables)), results=",\n".join(f"  {name}_{result}" for result in RESULTS),
                           read_only=READ_ONLY if read_only else "", file_parameters="const void* file, size_t bytes, " if read_only else "",
                           declarations="\n".join(declarations))
    return header, "\n".join(lines) + "\n"


def run(command):
    result = subprocess.run([str(word) for word in command], stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        sys.exit(result.stderr + f"export: {Path(command[0]).name} failed")


def compile_programs(options, name, names, folder, flags, facts):
    """Compiles the programs to programs.o in `folder`; the facts are an object that begins with the words `facts`."""
    vendor = "Clang" if "clang" in subprocess.run([options.compiler, "--version"], capture_output=True, text=True).stdout else "GNU"
    programs = "\n".join(f"constexpr void {c}(tilewright::Ir& ir) {{ ::{cpp}(ir); }}" for c, cpp in zip(names, options.programs))
    source = folder / "net.cpp"
    source.write_text(SOURCE.format(source=options.source.resolve(), name=name, target=options.target, programs=programs,
                                    unchanged="read_only" if options.read_only else "in_object",
                                    file_parameters="const void* file, std::size_t bytes, " if options.read_only else "",
                                    file_arguments="file, bytes, " if options.read_only else "",
                                    list=", ".join(names), facts=facts,
                                    runs="\n".join(RUN.format(name=name, p=p) for p in range(len(names)))))
    includes = [f"-I{include}" for include in options.include]
    own = [*flags, *shlex.split(options.flags), *includes, f"-I{options.source.resolve().parent}"]
    if options.depfile:
        own += ["-MMD", "-MF", options.depfile, "-MT", options.output]
    run([options.compiler, *OPTIONS, *shlex.split(LIMITS[vendor]), *own, "-c", source, "-o", folder / "programs.o"])
    if options.depfile:
        options.depfile.write_text(options.depfile.read_text().replace(str(source), ""))


def prefix_of_tools(compiler):
    """What the names of a cross compiler's tools begin with, such as arm-none-eabi-; empty: the compiler of the host."""
    prefix = re.fullmatch(r"(?:.*/)?((?:\w+-){2,})(?:g\+\+|gcc)(?:-[\d.]+)?", compiler)
    return prefix[1] if prefix and not prefix[1].startswith("x86_64-linux-gnu") else ""


def make_c(options, name, names, folder):
    prefix, flags = prefix_of_tools(options.compiler), HOST_OPTIONS
    if prefix:
        flags = []
        use_linked_headers(options, folder, flags)
    compile_programs(options, name, names, folder, flags, '[[gnu::section(".tilewright"), gnu::used]] constexpr')
    run([f"{prefix}objcopy", "-O", "binary", "--only-section=.tilewright", folder / "programs.o", folder / "facts"])
    run([f"{prefix}objcopy", "--remove-section=.tilewright", folder / "programs.o"])
    facts = read_facts((folder / "facts").read_text())
    if options.read_only and not facts[3]:
        sys.exit(f"export: --read-only: {' and '.join(names)} change all variables: a program that reads others expected")
    header, code = write_c(name, options.source, names, facts)
    (options.c / f"{name}.h").write_text(header)
    (folder / "interface.c").write_text(code)
    run([options.compiler, "-x", "c", "-c", *flags, *shlex.split(options.flags), "-Os", f"-I{options.c.resolve()}",
         folder / "interface.c", "-o", folder / "interface.o"])
    options.output.unlink(missing_ok=True)
    run([f"{prefix}ar", "rcs", options.output, folder / "programs.o", folder / "interface.o"])


def use_linked_headers(options, folder, flags):
    """For another machine than the host: of the folders of the system, which have the host's C library too, only the libraries that
    programs include."""
    links = folder / "include"
    links.mkdir()
    own = [root for root in map(Path, options.include) if root not in SYSTEM_FOLDERS]
    for library in ("boost", "xtensor", "xtl", "tilewright"):
        if not any((root / library).exists() for root in own):
            if root := next((root for root in SYSTEM_FOLDERS if (root / library).exists()), None):
                (links / library).symlink_to(root / library)
    options.include = own
    flags += ["-isystem", links]


def make_wasm(options, name, names, folder):
    flags = list(WASM_OPTIONS)
    use_linked_headers(options, folder, flags)
    # not `used`, so that the linker leaves it out
    compile_programs(options, name, names, folder, flags, "extern const")
    facts = FACTS.search((folder / "programs.o").read_bytes())[0].decode()
    parts = options.source.name, names, read_facts(facts)[:3]
    (folder / "interface.c").write_text(export_wasm.write_glue(name, parts[2]))
    run([options.compiler, "-x", "c", *WASM_OPTIONS[:1], "-Os", "-c", folder / "interface.c", "-o", folder / "interface.o"])
    libraries = [flag for flag in shlex.split(options.flags) if flag.startswith(("-l", "-L"))]
    run([options.compiler, *WASM_OPTIONS, *WASM_LINKS, folder / "programs.o", folder / "interface.o", *libraries, "-o", options.output])
    module, types = export_wasm.write_module(name, *parts)
    (options.wasm / f"{name}.js").write_text(module)
    (options.wasm / f"{name}.d.ts").write_text(types)


def main():
    parser = argparse.ArgumentParser(prog="./dev export", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, metavar="SOURCE")
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--c", type=Path, metavar="FOLDER", help="where the header and the library are written")
    kind.add_argument("--wasm", type=Path, metavar="FOLDER", help="where the modules of WebAssembly and JavaScript are written")
    parser.add_argument("--read-only", action="store_true", help="with --c: variables that no program changes are in a file in place")
    parser.add_argument("--name", help="of the library, and before all names in it; without it, that of the folder")
    parser.add_argument("--target", default="one_core", help="such as one_core (the default) or cpu")
    parser.add_argument("--compiler", help="g++, or for --wasm clang++-19")
    parser.add_argument("--flags", help="as in a shell: '-O3 -march=native', or for --wasm -O3; write --flags=...")
    parser.add_argument("--include", default=str(PREFIX.parent / "include"), help="folders of headers, with ; between them")
    parser.add_argument("--depfile", type=Path, metavar="FILE", help="where the files that the library depends on are written")
    options = parser.parse_args()
    target = options.c or options.wasm
    options.compiler = options.compiler or ("g++" if options.c else "clang++-19")
    options.include = [include for include in options.include.split(";") if include]
    options.flags = ("-O3 -march=native" if options.c else "-O3") if options.flags is None else options.flags
    name = options.name or target.resolve().name
    if not re.fullmatch(r"[A-Za-z]\w*", name):
        sys.exit(f"export: name '{name}': a name of C expected, by --name")
    if not options.source.is_file():
        sys.exit(f"export: {options.source}: a file with the programs expected")
    names = [program.split("::")[-1] for program in options.programs]
    if len(set(names)) != len(names) or not all(re.fullmatch(r"[A-Za-z]\w*", each) for each in names):
        sys.exit(f"export: programs {', '.join(options.programs)}: functions of different names expected")
    if options.wasm and options.read_only:
        sys.exit("export: --read-only: a library of C, by --c, expected")
    if options.wasm and (taken := set(names) & export_wasm.TAKEN):
        sys.exit(f"export: program {min(taken)}: a name that the module does not have itself expected")
    target.mkdir(parents=True, exist_ok=True)
    options.output = target.resolve() / (f"lib{name}.a" if options.c else f"{name}.wasm")
    with tempfile.TemporaryDirectory() as folder:
        (make_c if options.c else make_wasm)(options, name, names, Path(folder))


if __name__ == "__main__":
    main()
