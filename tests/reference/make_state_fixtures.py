#!/usr/bin/python3
"""Writes state/: small .npz and .safetensors files, good and bad ones, for tests of their readers.

    python3 tests/reference/make_state_fixtures.py        (Debian: apt-get install python3-numpy)

Good .npz files are NumPy's own. .safetensors files are put together here by hand from the format's description.
"""

import io
import json
import struct
import zipfile
from pathlib import Path

import numpy as np

folder = Path(__file__).parent / "state"
folder.mkdir(exist_ok=True)

# Element i of each tensor is i, but bools alternate.
dtypes = {"BOOL": "|b1", "I8": "|i1", "I16": "<i2", "I32": "<i4", "I64": "<i8", "U8": "|u1", "U16": "<u2", "U32": "<u4",
          "U64": "<u8", "F16": "<f2", "F32": "<f4", "F64": "<f8"}


def counting(dtype, *shape):
    count = int(np.prod(shape))
    return (np.arange(count) % 2 if dtype == "|b1" else np.arange(count)).astype(dtype).reshape(shape)


small = {"fc1.weight": counting("<f4", 2, 3), "fc1.bias": counting("<f4", 3), "step": counting("<f4")}
every_dtype = {name: counting(dtype, 2, 2) for name, dtype in dtypes.items()}
bfloat16 = (counting("<f4", 2, 2).view("<u4") >> 16).astype("<u2")  # the first halves of floats


def write(name, content):
    (folder / name).write_bytes(content)


def npy(array, version=(1, 0)):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version)
    return file.getvalue()


def npy_with(header, elements=b"", magic=b"\x93NUMPY\x01\x00"):
    header = header.encode()
    return magic + struct.pack("<H", len(header)) + header + elements


def npz(entries, compression=zipfile.ZIP_STORED):
    """entries: [(name, bytes)]; names may occur twice."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in entries:
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=compression)
    return file.getvalue()


def dict_text(descr="'<f4'", order="False", shape="(3,)"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"


def write_npz_files():
    np.savez(folder / "good_small.npz", **small)
    np.savez_compressed(folder / "good_compressed.npz", zeros=np.zeros((64, 64), "<f4"), **small)
    np.savez(folder / "good_dtypes.npz", **every_dtype)
    np.savez(folder / "good_shapes.npz", scalar=counting("<f4"), empty=counting("<f4", 0, 3), six=counting("<i4", 1, 2, 1, 2, 1, 2))
    write("good_version2.npz", npz([("x.npy", npy(counting("<f4", 3), (2, 0)))]))
    np.savez(folder / "good_empty.npz")
    # as the package ml_dtypes describes it
    write("good_bfloat16.npz", npz([("BF16.npy", npy_with(dict_text("'<V2'", shape="(2, 2)"), bfloat16.tobytes()))]))

    good = (folder / "good_small.npz").read_bytes()
    three = counting("<f4", 3).tobytes()

    def bad(name, *arrays):
        write(f"bad_{name}.npz", npz([("x.npy", array) for array in arrays]))

    write("bad_not_zip.npz", b"this is no archive" * 10)
    write("bad_no_bytes.npz", b"")
    write("bad_truncated.npz", good[:-30])
    write("bad_changed.npz", good.replace(counting("<f4", 2, 3).tobytes(), b"\1" * 24))
    bad("twice", npy(small["step"]), npy(small["step"]))
    write("bad_suffix.npz", npz([("x.txt", b"hello")]))
    bad("no_array", b"hello")
    bad("npy_version", b"\x93NUMPY\x03\x00" + npy(small["step"])[8:])
    bad("npy_cut_in_magic", b"\x93NUM")
    bad("npy_cut_in_version", b"\x93NUMPY\x01")
    bad("npy_cut_in_length", b"\x93NUMPY\x02\x00\x10\x00")
    bad("npy_header_length", b"\x93NUMPY\x01\x00\xff\xff" + dict_text().encode())
    bad("npy_header_length_32", b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + dict_text().encode())
    bad("too_short", npy_with(dict_text(), three[:-1]))
    bad("too_long", npy_with(dict_text(), three + b"\0"))
    bad("fortran", npy(np.asfortranarray(small["fc1.weight"])))
    bad("big_endian", npy(small["fc1.bias"].astype(">f4")))
    bad("complex", npy(small["fc1.bias"].astype("<c8")))
    bad("objects", npy_with(dict_text("'|O'"), three))
    bad("structured", npy(np.zeros(3, [("a", "<f4")])))
    bad("seven_axes", npy(np.zeros((1,) * 7, "<f4")))
    bad("bool_of_2", npy_with(dict_text("'|b1'"), b"\0\1\2"))
    bad("overflow_product", npy_with(dict_text(shape="(4294967296, 4294967296)")))  # 2^64
    bad("overflow_bytes", npy_with(dict_text(shape="(4611686018427387904, 0)")))  # 2^62 elements of 4 bytes, times 0
    bad("overflow_extent", npy_with(dict_text(shape="(18446744073709551617,)"), b"\0" * 4))  # 2^64 + 1
    bad("negative", npy_with(dict_text(shape="(-1,)")))
    bad("shape_number", npy_with(dict_text(shape="(3)"), three))
    bad("key_twice", npy_with(dict_text()[:-3] + "'shape': (3,)}", three))
    bad("key_missing", npy_with("{'descr': '<f4', 'shape': (3,), }", three))
    bad("key_unknown", npy_with(dict_text()[:-3] + "'x': 1}", three))
    bad("dict_unfinished", npy_with(dict_text()[:-3], three))
    bad("dict_followed", npy_with(dict_text() + "x", three))
    bad("string_unfinished", npy_with("{'descr", three))
    bad("expression", npy_with(dict_text(shape="(1+2,)"), three))

    # fields of the zip records, which follow their signatures
    def patched(name, changes, content=good):
        content = bytearray(content)
        for signature, offset, value in changes:
            at = content.index(signature) + offset
            content[at:at + len(value)] = value
        write(f"bad_{name}.npz", bytes(content))

    local, central = b"PK\3\4", b"PK\1\2"
    plain = npz([("x.npy", npy(small["fc1.bias"]))])
    deflated = npz([("x.npy", npy(np.zeros(1000, "<f4")))], zipfile.ZIP_DEFLATED)
    patched("encrypted", [(local, 6, b"\1"), (central, 8, b"\1")], plain)
    patched("bzip2", [(local, 8, b"\x0c"), (central, 10, b"\x0c")], plain)
    huge = b"\xf0\xff\xff\xff"
    patched("size_stored", [(local, 22, huge), (central, 24, huge)], plain)
    patched("size_deflated", [(local, 22, huge), (central, 24, huge)], deflated)
    patched("compressed_size", [(local, 18, huge), (central, 20, huge)], plain)
    patched("offset", [(central, 42, huge)], plain)
    write("bad_size_64.npz", zip64_with(2**62))
    write("bad_size_2_64.npz", zip64_with(2**64 - 1))


def zip64_with(size):
    """A stored entry whose sizes are the given ones, in zip64 fields."""
    name, content = b"x.npy", npy(small["fc1.bias"])
    extra = struct.pack("<HHQQ", 1, 16, size, size)
    crc = zipfile.crc32(content)
    fields = struct.pack("<HHHHIIIHH", 0, 0, 0, 0x21, crc, 0xFFFFFFFF, 0xFFFFFFFF, len(name), len(extra))
    local = b"PK\3\4" + struct.pack("<H", 45) + fields + name + extra + content
    central = b"PK\1\2" + struct.pack("<HH", 45, 45) + fields + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name + extra
    return local + central + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)


def safetensors(header, buffer=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + buffer


def entries(tensors, start=0, **more):
    """Header and buffer of tensors {name: (dtype, array)} that follow each other."""
    header, buffer = dict(more), b""
    for name, (dtype, array) in tensors.items():
        offsets = [start + len(buffer), start + len(buffer) + array.nbytes]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": offsets}
        buffer += array.tobytes()
    return header, buffer


def write_safetensors_files():
    as_f32 = {name: ("F32", array) for name, array in small.items()}
    write("good_small.safetensors", safetensors(*entries(as_f32)))
    of_dtypes = {name: (name, array) for name, array in every_dtype.items()}
    write("good_dtypes.safetensors", safetensors(*entries({**of_dtypes, "BF16": ("BF16", bfloat16)})))
    write("good_metadata.safetensors", safetensors(*entries(as_f32, __metadata__={"format": "pt", "text": "\u00e4 \"quoted\"\n"})))
    write("good_shapes.safetensors", safetensors(*entries({
        "empty": ("F32", counting("<f4", 0, 3)), "scalar": ("F32", counting("<f4")), "last": ("U8", counting("|u1", 0))})))
    write("good_padded.safetensors", safetensors(json.dumps(entries(as_f32)[0]).encode() + b"     ", entries(as_f32)[1]))
    write("good_unordered.safetensors", safetensors(
        {"b": {"dtype": "U8", "shape": [2], "data_offsets": [3, 5]}, "a": {"data_offsets": [0, 3], "shape": [3], "dtype": "U8"}},
        bytes(range(5))))
    write("good_empty.safetensors", safetensors({}))

    three = counting("<f4", 3).tobytes()

    def bad(name, tensor, buffer=three, **more):
        write(f"bad_{name}.safetensors", safetensors({"x": tensor, **more}, buffer))

    def x(dtype="F32", shape=(3,), data_offsets=(0, 12)):
        return {"dtype": dtype, "shape": list(shape) if isinstance(shape, tuple) else shape, "data_offsets": list(data_offsets)}

    good = safetensors(*entries(as_f32))
    write("bad_no_bytes.safetensors", b"")
    write("bad_truncated_length.safetensors", good[:5])
    write("bad_truncated_header.safetensors", good[:50])
    write("bad_truncated_buffer.safetensors", good[:-1])
    write("bad_followed.safetensors", good + b"\0")
    write("bad_header_length.safetensors", safetensors({}, length=3))
    write("bad_header_length_64.safetensors", safetensors({}, length=2**64 - 1))
    write("bad_header_length_100_mb.safetensors", safetensors({}, length=100_000_001))
    write("bad_header_length_0.safetensors", safetensors(b""))
    write("bad_magic.safetensors", b"PK\3\4" + bytes(60))
    write("bad_space_first.safetensors", safetensors(b" {}"))
    write("bad_array.safetensors", safetensors(b"[]"))
    write("bad_json.safetensors", safetensors(b'{"x": {"dtype": "F32", "shape": [3'))
    write("bad_utf8.safetensors", safetensors(b'{"\xff": {}}'))
    write("bad_two_objects.safetensors", safetensors(b"{}{}"))
    write("bad_nested.safetensors", safetensors(b'{"x":' * 10_000 + b"1" + b"}" * 10_000))
    write("bad_nested_arrays.safetensors", safetensors(b'{"x":{"dtype":"F32","shape":' + b"[" * 10_000))
    write("bad_twice.safetensors", safetensors(b'{"x": %s, "x": %s}' % ((json.dumps(x()).encode(),) * 2), three))
    write("bad_key_twice.safetensors", safetensors(json.dumps({"x": x()}).encode()[:-2] + b', "dtype": "F32"}}', three))
    bad("key_unknown", {**x(), "strides": [1]})
    bad("key_missing", {"dtype": "F32", "shape": [3]})
    bad("entry_number", 7)
    bad("dtype_unknown", x("F4", (6,)))
    bad("dtype_number", {**x(), "dtype": 7})
    bad("shape_text", {**x(), "shape": "3"})
    bad("shape_negative", x(shape=(-3,)))
    bad("shape_fraction", x(shape=(3.0,)))
    bad("shape_null", x(shape=(None,)))
    bad("seven_axes", x(shape=(3, 1, 1, 1, 1, 1, 1)))
    bad("many_axes", x(shape=(1,) * 5000))
    bad("shape_and_offsets", x(shape=(4,)))
    bad("overflow_product", x(shape=(2**32, 2**32), data_offsets=(0, 0)), b"")  # 2^64
    bad("overflow_bytes", x(shape=(2**62, 0), data_offsets=(0, 0)), b"")
    bad("overflow_extent", x(shape=(2**64 + 1,)), three)
    bad("overflow_offsets", x(data_offsets=(2**64 - 12, 2**64)))
    bad("offsets_backwards", x(data_offsets=(12, 0)))
    bad("offsets_wrap", x(data_offsets=(0, 2**64 - 1)))
    bad("offsets_one", x(data_offsets=(0,)))
    bad("offsets_three", x(data_offsets=(0, 12, 12)))
    bad("offsets_beyond", x(data_offsets=(0, 12)), three[:-4])
    bad("hole_first", x(data_offsets=(4, 16)), bytes(16))
    bad("hole_between", x(), bytes(28), y=x(data_offsets=(16, 28)))
    bad("hole_last", x(), bytes(16))
    bad("overlap", x(), bytes(20), y=x(data_offsets=(8, 20)))
    bad("same_bytes", x(), bytes(12), y=x())
    bad("bool_of_2", x("BOOL", (3,), (0, 3)), b"\0\1\2")
    bad("metadata_number", x(), __metadata__={"step": 7})
    bad("metadata_object", x(), __metadata__={"step": {}})
    bad("metadata_text", x(), __metadata__="step")
    write("bad_metadata_twice.safetensors", safetensors(b'{"__metadata__": {"a": "1", "a": "2"}}'))


write_npz_files()
write_safetensors_files()

# what a fuzzer starts from beside these files
corpus = folder.parent.parent / "fuzz" / "corpus" / "npy"
corpus.mkdir(parents=True, exist_ok=True)
for stem, array in {**every_dtype, "fc1.weight": small["fc1.weight"], "step": small["step"]}.items():
    (corpus / f"{stem}.npy").write_bytes(npy(array))
(corpus / "version2.npy").write_bytes(npy(small["step"], (2, 0)))
