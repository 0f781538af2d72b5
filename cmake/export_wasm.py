"""What export.py writes for browsers and node: a module of JavaScript, its types, and the C that joins them with the programs."""

import json
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
TAKEN = {"constructor", "exports", "init", "load", "memory", "save", "variables"}  # of the class in network.js.in

# By dtype: the typed array of JavaScript, its bytes, and the name in .safetensors. float16, bfloat16 and float8 are bits.
ARRAYS = {"float32": ("Float32Array", 4, "F32"), "float64": ("Float64Array", 8, "F64"), "float16": ("Uint16Array", 2, "F16"),
          "bfloat16": ("Uint16Array", 2, "BF16"), "bool": ("Uint8Array", 1, "BOOL"), "int8": ("Int8Array", 1, "I8"),
          "int16": ("Int16Array", 2, "I16"), "int32": ("Int32Array", 4, "I32"), "int64": ("BigInt64Array", 8, "I64"),
          "uint8": ("Uint8Array", 1, "U8"), "uint16": ("Uint16Array", 2, "U16"), "uint32": ("Uint32Array", 4, "U32"),
          "uint64": ("BigUint64Array", 8, "U64"), "float8_143": ("Uint8Array", 1, "F8_E4M3"),
          "float8_152": ("Uint8Array", 1, "F8_E5M2")}

GLUE = """#include <stdint.h>
typedef struct {{ const char *before, *after; int64_t value, more, others; }} Status;
int {name}_init(void* memory, uint64_t seed, Status* status);
static _Alignas({alignment}) unsigned char network[{bytes}];
static Status status;
__attribute__((export_name("init"))) int init(uint64_t seed) {{ return {name}_init(network, seed, &status); }}
{programs}
__attribute__((export_name("addresses"))) const void* const* addresses(void) {{
  static const void* const table[] = {{{table}}};
  return table;
}}
"""


def element_count(shape):
    count = 1
    for extent in shape:
        count *= int(extent)
    return count


def table(rows):
    """Rows of JavaScript objects."""
    return "[\n" + "".join(f"  {row},\n" for row in rows) + "]"


def js_object(name, shape, dtype, more=""):
    return f"{{name: {json.dumps(name)}, shape: [{', '.join(shape)}], array: '{ARRAYS[dtype][0]}'{more}}}"


def key(name):
    return name if re.fullmatch(r"[A-Za-z_]\w*", name, flags=re.ASCII) else json.dumps(name)


def write_glue(name, facts):
    """C: the memory of a network and of its streams, a function for each program, and where all that is."""
    numbers, _, programs = facts
    lines, addresses = [], ["network"]
    for p, streams in enumerate(programs):
        slots = ["0"] * (1 + max((number for _, _, number, _, _ in streams), default=0))
        for _, _, number, dtype, shape in streams:
            array = f"array_{p}_{number}"
            lines.append(f"static _Alignas(64) unsigned char {array}[{element_count(shape) * ARRAYS[dtype][1]}];")
            slots[number] = array
            addresses.append(array)
        lines += [f"int {name}_run_arrays_{p}(void* memory, void* const* arrays, Status* status);",
                  f'__attribute__((export_name("run_{p}"))) int run_{p}(void) {{',
                  f"  static void* const arrays[] = {{{', '.join(slots)}}};",
                  f"  return {name}_run_arrays_{p}(network, arrays, &status);", "}"]
    return GLUE.format(name=name, alignment=numbers["alignment"], bytes=numbers["bytes"], programs="\n".join(lines),
                       table=", ".join([*addresses, "&status"]))


def fill_in(template, values):
    """The text of a file in cmake/, with values in the place of their names between @."""
    text = (FOLDER / template).read_text()
    for name, value in values.items():
        text = text.replace(f"@{name}@", str(value))
    return text


def write_module(name, source, names, facts):
    """The texts of NAME.js and NAME.d.ts."""
    numbers, variables, programs = facts
    program_rows, program_types = [], []
    for program, streams in zip(names, programs):
        rows = [js_object(stream, shape, dtype, f", input: {str(is_input).lower()}") for stream, is_input, _, dtype, shape in streams]
        program_rows.append(f"{{name: '{program}', streams: [{', '.join(rows)}]}}")
        arrays = [f"/** ({', '.join(shape)}) {dtype} */ {key(stream)}: {ARRAYS[dtype][0]}" for stream, _, _, dtype, shape in streams]
        inputs = [f"{key(stream)}: {'bigint' if ARRAYS[dtype][0].startswith('Big') else 'number'}"
                  for stream, is_input, _, dtype, _ in streams if is_input]
        program_types.append(f"  readonly {program}: Program<{{{'; '.join(arrays)}}}, {{{'; '.join(inputs)}}}>;")
    rows = [js_object(v, shape, dtype, f", offset: {offset}, type: '{ARRAYS[dtype][2]}'") for v, dtype, offset, shape in variables]
    types = [f"    /** ({', '.join(shape)}) {dtype} */ readonly {key(v)}: {ARRAYS[dtype][0]};" for v, dtype, _, shape in variables]
    both = {"NAME": name, "SOURCE": source, "PROGRAM_NAMES": " and ".join(names), "BYTES": numbers["bytes"]}
    return (fill_in("network.js.in", both | {"PROGRAMS": table(program_rows), "VARIABLES": table(rows)}),
            fill_in("network.d.ts.in", both | {"PROGRAMS": "\n".join(program_types), "VARIABLES": "\n".join(types)}))
