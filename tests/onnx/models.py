"""Imports single models of the test data, in this process."""

import re
import traceback
import types
from dataclasses import dataclass, field
from pathlib import Path

import onnx

import files
from model import Fault
from operators import RULES

ADVICE = re.compile(r"--fix (\S+)=VALUES")
TRAINING = "ai.onnx.preview.training"


@dataclass
class Tried:
    """A model and what became of it. state: imports, left out, missing, faulty, passes or fails; text: why."""
    folder: Path
    operators: set = field(default_factory=set)
    state: str = ""
    text: str = ""
    problems: list = field(default_factory=list)  # (operator, why)
    made: object = None
    graph: object = None
    data: dict = field(default_factory=dict)
    fixed: list = field(default_factory=list)
    found: dict = field(default_factory=dict)  # outputs by name


def attempt(folder, name="Net"):
    tried = Tried(folder)
    model = onnx.load(folder / "model.onnx")
    tried.operators = {node.op_type for node in model.graph.node}
    rule = rule_of(model)
    if rule:
        tried.state, tried.text = "left out", rule
        return tried
    names = [each.name for each in model.graph.input]
    options = types.SimpleNamespace(model=folder / "model.onnx", name=name, out=Path("."), shape=[], fix=[], fix_from=[])
    try:
        while True:
            tried.made, tried.graph, tried.data = files.imported(options)
            wanted = {each for _, why in tried.made.problems for each in ADVICE.findall(why)} - set(tried.fixed)
            if not wanted:
                break
            tried.fixed += sorted(wanted)
            options.fix_from = [(each, folder / "test_data_set_0" / f"input_{names.index(each)}.pb") for each in tried.fixed]
        tried.problems = [(node.op, why) for node, why in tried.made.problems]
        tried.state = "missing" if tried.problems else "imports"
        if all(why.endswith("left out") for _, why in tried.problems) and tried.problems:
            tried.state, tried.text = "left out", tried.problems[0][1]
        if any("with elements expected" in why for _, why in tried.problems):
            tried.state, tried.text = "left out", "tensors without elements"
    except Fault as fault:
        tried.state, tried.text = "faulty", str(fault)
        if tried.text.endswith("of opset 9 expected"):
            tried.state, tried.problems = "missing", [("Scan", tried.text)]
        for end, rule in ("with elements expected", "tensors without elements"), ("at most 6 axes expected", "more than 6 axes"):
            if tried.text.endswith(end):
                tried.state, tried.text = "left out", rule
    except Exception:
        tried.state, tried.text = "faulty", traceback.format_exc(limit=-3)
    return tried


def rule_of(model):
    """The rule by which a model is left out before it is imported; nothing if there is none."""
    if any(each.domain == TRAINING for each in model.opset_import):
        return "the domain of training"
    for value in (*model.graph.input, *model.graph.output):
        if not value.type.HasField("tensor_type"):
            return "sequences and optional values"
        if value.type.tensor_type.elem_type == onnx.TensorProto.STRING:
            return "texts"
    for node in model.graph.node:
        if node.op_type in RULES:
            return RULES[node.op_type]
    return ""
