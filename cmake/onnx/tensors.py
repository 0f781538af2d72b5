"""Files of tensors in the .safetensors format."""

import json

import numpy as np

FORMAT = {"float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64", "bool": "BOOL", "int8": "I8", "int16": "I16",
          "int32": "I32", "int64": "I64", "uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64"}


def safetensors(tensors, metadata=None):
    """The bytes of a file. tensors: by name, an array and its dtype's name."""
    header, end, parts = ({"__metadata__": metadata} if metadata else {}), 0, []
    for name, (array, dtype) in sorted(tensors.items()):
        data = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": FORMAT[dtype], "shape": list(array.shape), "data_offsets": [end, end + len(data)]}
        parts.append(data)
        end += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])


def sources(elements, names):
    """What says where the elements of variables come from, as metadata: for each variable the order of its axes, and then runs of
    elements of the model's initialisers, as [name, first, count]. elements: by variable, the numbers of its elements; names: the
    number of the first element of each initialiser, and its name."""
    result = {}
    for variable, numbers in elements.items():
        if numbers is None or numbers.size == 0:
            continue
        order = sorted(range(numbers.ndim), key=lambda axis: (numbers.shape[axis] > 1, -abs(step(numbers, axis))))
        result[variable] = {"axes": order, "runs": runs(np.transpose(numbers, order).ravel(), names)}
    return {"sources": json.dumps(result, separators=(",", ":"))}


def step(numbers, axis):
    """How far an element's number is from that of its neighbour along an axis."""
    return int(np.take(numbers, 1, axis).ravel()[0] - numbers.ravel()[0]) if numbers.shape[axis] > 1 else 0


def runs(line, names):
    starts = np.flatnonzero(np.diff(line, prepend=line[0] - 2) != 1)
    firsts, result = [first for first, _ in names], []
    for begin, end in zip(starts, [*starts[1:], len(line)]):
        number = int(line[begin])
        while begin < end:
            at = int(np.searchsorted(firsts, number, "right")) - 1
            last = firsts[at + 1] if at + 1 < len(firsts) else number + end - begin
            count = int(min(end - begin, last - number)) if number >= 0 else int(end - begin)
            result.append([names[at][1] if number >= 0 else "", number - firsts[at] if number >= 0 else 0, count])
            begin, number = begin + count, number + count
    return result
