#!/usr/bin/env python3
"""Tests what an import writes, and what it says of files that it refuses; compiles nothing."""

import io
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
DATA = Path("/usr/share/libonnx-testdata/data")
try:
    import numpy as np
    import onnx
    import onnx.numpy_helper
    from onnx import TensorProto, helper
except ImportError as error:
    print(f"python3-{error.name} is not installed: left out")
    sys.exit(77)
try:
    import torch
except ImportError:
    torch = None


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, inputs, outputs, initialisers=(), opset=17):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, [onnx.numpy_helper.from_array(a, n) for n, a in initialisers])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def perceptron(batch="batch", layers=1):
    draw = np.random.default_rng(1)
    nodes, weights = [], []
    for i in range(layers):
        weights += [(f"fc{i}.weight", draw.normal(size=(4, 4)).astype("f4")), (f"fc{i}.bias", np.zeros(4, "f4"))]
        nodes += [helper.make_node("Gemm", [f"x{i}", f"fc{i}.weight", f"fc{i}.bias"], [f"sum{i}"], transB=1),
                  helper.make_node("Relu", [f"sum{i}"], [f"x{i + 1}"])]
    return model(nodes, [value("x0", [batch, 4])], [value(f"x{layers}", [batch, 4])], weights)


def attention(compute):
    """A network of PyTorch that computes something with an attention module."""
    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.own = torch.nn.MultiheadAttention(8, 2, batch_first=True)

        def forward(self, x):
            return compute(self.own, x)
    return Network()


def heads(own, x, *weights):
    """Attention without its module, with these weights of queries and keys."""
    q, k, v = ((x @ each + own.in_proj_bias[i * 8:i * 8 + 8]).view(2, 4, 2, 4).transpose(1, 2)
               for i, each in enumerate((*weights, own.in_proj_weight[16:].T)))
    return own.out_proj(((q @ k.transpose(2, 3) / 2).softmax(3) @ v).transpose(1, 2).reshape(2, 4, 8))


class ImportTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.file, self.out = self.folder / "in" / "model.onnx", self.folder / "out"
        self.file.parent.mkdir()

    def run_import(self, made, *options):
        """The status and what was said; `made`: a model, or bytes."""
        self.file.write_bytes(made if isinstance(made, bytes) else made.SerializeToString())
        result = subprocess.run([sys.executable, str(PROJECT / "cmake/onnx"), str(self.file), "--out", str(self.out), *options],
                                capture_output=True, text=True)
        self.assertEqual("", result.stdout)
        return result.returncode, result.stderr.replace(str(self.file), "model.onnx")

    def refuse(self, made, text, *options):
        status, said = self.run_import(made, *options)
        self.assertEqual((1, f"import: model.onnx: {text}\n"), (status, said))
        self.assertEqual([], list(self.out.glob("*")))

    def accept(self, made, *options):
        self.assertEqual((0, ""), self.run_import(made, *options))
        return (self.out / "net.hpp").read_text()

    def test_a_perceptron_becomes_layers(self):
        text = self.accept(perceptron(8))
        self.assertIn("(tw::layers::Linear<4>, fc0)", text)
        self.assertIn("const tw::Tensor sum0 = fc0(x0);  // (8, 4) float32", text)
        self.assertIn(b'"fc0.weight":{"dtype":"F32","shape":[4,4]', (self.out / "net.safetensors").read_bytes())

    def test_the_same_model_gives_the_same_bytes(self):
        self.accept(perceptron(8, layers=3))
        before = {file.name: file.read_bytes() for file in self.out.iterdir()}
        self.accept(perceptron(8, layers=3))
        self.assertEqual(before, {file.name: file.read_bytes() for file in self.out.iterdir()})

    def test_marked_lines_stay(self):
        text = self.accept(perceptron(8))
        own = text.replace("kept by the next import: end", "kept by the next import: end", 1).replace(
            "// Yours, kept by the next import: begin\n", "// Yours, kept by the next import: begin\nconstexpr int mine = 1;\n")
        (self.out / "net.hpp").write_text(own.replace("fc0(x0)", "changed(x0)"))
        self.assertEqual(own, self.accept(perceptron(8)))

    def test_symbols_need_numbers(self):
        self.refuse(perceptron(), "dimensions without a number: --shape batch=N expected")
        self.assertIn("(8, 4) float32", self.accept(perceptron(), "--shape", "batch=8"))

    def test_an_unknown_symbol(self):
        self.refuse(perceptron(8), "--shape rows: a dimension of an input that has no number expected", "--shape", "rows=8")

    def test_an_input_becomes_a_constant(self):
        made = model([helper.make_node("Reshape", ["x", "shape"], ["y"])], [value("x", [2, 6]), value("shape", [2], TensorProto.INT64)],
                     [value("y", ["a", "b"])])
        status, said = self.run_import(made)
        self.assertEqual(1, status)
        self.assertIn("Reshape 'y'", said)
        self.assertIn("x.reshape({3, 4})", self.accept(made, "--fix", "shape=3,4"))
        tensor = onnx.numpy_helper.from_array(np.array([4, 3]), "shape")
        file = self.folder / "any.pb"
        for given in f"shape={file}", str(file):
            file.write_bytes(tensor.SerializeToString())
            self.assertIn("x.reshape({4, 3})", self.accept(made, "--fix-from", given))
        tensor.name = ""
        file.write_bytes(tensor.SerializeToString())
        shutil.rmtree(self.out)
        self.refuse(made, f"--fix-from {file}: a tensor without a name: --fix-from INPUT={file} expected", "--fix-from", str(file))

    def test_all_unsupported_operators_are_listed(self):
        made = model([helper.make_node("NonZero", ["x"], ["n"], name="first"), helper.make_node("Det", ["x"], ["d"], name="second")],
                     [value("x", [4, 4])], [value("d", []), value("n", ["a", "b"], TensorProto.INT64)])
        self.refuse(made, "2 operators not supported; nothing is written:\n  NonZero 'first': its shape depends on elements: left out\n"
                          "  Det 'second': no such operator here")

    def test_random_operators_take_a_seed(self):
        nodes = [helper.make_node("RandomNormal", [], ["a"], shape=[3]), helper.make_node("RandomNormal", [], ["b"], shape=[3]),
                 helper.make_node("RandomUniform", [], ["c"], shape=[3], seed=2.0), helper.make_node("Sum", ["a", "b", "c"], ["y"])]
        text = self.accept(model(nodes, [], [value("y", [3])]))
        self.assertIn("build(tw::Tensor seed)", text)
        self.assertIn('ir.h2d_stream("seed", {2}, tw::uint32)', text)
        for own in "seed, 0", "seed, 1", "ir().constant({1073741824, 0}, {2}, tw::uint32), 2":
            self.assertIn(f"create_random_seed({own})", text)

    @unittest.skipIf(torch is None, "needs python3-torch")
    def test_attention_that_more_than_a_layer_reads_is_composed(self):
        given = torch.zeros(2, 4, 8)
        for forward, layers in ((lambda own, x: own(x, x, x)[0], 1), (lambda own, x: own(own(x, x, x)[0], x, x)[0], 0),
                                (lambda own, x: own(x, x, x), 0), (lambda own, x: own(x, x, x)[0] @ own.in_proj_weight.T, 0),
                                (lambda own, x: own(x, x, x, attn_mask=torch.eye(4))[0], 0),
                                (lambda own, x: heads(own, x, own.in_proj_weight[:8].T, own.in_proj_weight[8:16].T), 1),
                                (lambda own, x: heads(own, x, own.in_proj_weight[:8].T, own.in_proj_weight[:8].T), 0)):
            file = io.BytesIO()
            torch.onnx.export(attention(forward), given, file, opset_version=17, training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)
            self.assertEqual(layers, self.accept(file.getvalue()).count("tw::layers::MultiheadAttention<8, 2>"))

    def test_a_shared_weight_stays_one(self):
        nodes = [helper.make_node("Gather", ["table", "tokens"], ["x"]), helper.make_node("Transpose", ["table"], ["t"]),
                 helper.make_node("MatMul", ["x", "t"], ["y"])]
        text = self.accept(model(nodes, [value("tokens", [5], TensorProto.INT64)], [value("y", [5, 7])],
                                 [("table", np.ones((7, 4), "f4"))]))
        self.assertEqual(1, text.count("add_variable_input("))

    def test_chains_of_shapes_are_computed(self):
        nodes = [helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Gather", ["s", "zero"], ["n"]),
                 helper.make_node("Concat", ["n", "rest"], ["to"], axis=0), helper.make_node("Reshape", ["x", "to"], ["y"])]
        text = self.accept(model(nodes, [value("x", [2, 3, 4])], [value("y", ["a", "b"])],
                                 [("zero", np.array([0])), ("rest", np.array([-1]))]))
        self.assertIn("x.reshape({2, 12})", text)

    def test_a_file_that_ends_early(self):
        self.refuse(perceptron(8).SerializeToString()[:-9], "no ONNX model, or one that ends early")

    def test_a_missing_initialiser(self):
        made = perceptron(8)
        del made.graph.initializer[:1]
        self.refuse(made, "Gemm 'sum0' reads 'fc0.weight': an input, an initialiser or the result of a node before it expected")

    def test_a_cycle(self):
        nodes = [helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Relu", ["a"], ["b"])]
        self.refuse(model(nodes, [value("x", [2])], [value("b", [2])]),
                    "Add 'a' reads 'b': an input, an initialiser or the result of a node before it expected")

    def test_external_data_outside_of_the_folder(self):
        made = perceptron(8)
        tensor = made.graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="../weights")
        self.refuse(made, "tensor 'fc0.weight' in the file '../weights': a file in the model's folder expected")

    def test_external_data(self):
        made = perceptron(8)
        tensor = made.graph.initializer[0]
        (self.file.parent / "weights").write_bytes(b"????" + tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, text in ("location", "weights"), ("offset", "4"):
            tensor.external_data.add(key=key, value=text)
        self.accept(made)
        self.accept(perceptron(8))

    def test_a_huge_shape(self):
        made = perceptron(8)
        made.graph.initializer[0].dims[0] = 1 << 40
        self.refuse(made, f"tensor 'fc0.weight': {1 << 42} elements: at most {1 << 31} expected")

    def test_a_newer_opset(self):
        self.refuse(model([], [value("x", [1])], [value("x", [1])], opset=18), "opset 18: from 1 to 17 expected")

    def test_two_hundred_operators_in_five_seconds(self):
        begin = time.monotonic()
        self.accept(perceptron(8, layers=100))
        self.assertLess(time.monotonic() - begin, 5)

    @unittest.skipUnless(shutil.which("clang-format-19"), "needs clang-format-19")
    def test_what_is_written_is_formatted(self):
        self.accept(perceptron(8, layers=40))
        self.require_format(self.out)

    @unittest.skipUnless(shutil.which("clang-format-19") and DATA.is_dir(), "needs clang-format-19 and libonnx-testdata")
    def test_what_is_written_of_models_is_formatted(self):
        for file in sorted(DATA.glob("*/*/model.onnx"))[::24]:
            made = [sys.executable, str(PROJECT / "cmake/onnx"), str(file), "--out", str(self.out / file.parent.name)]
            subprocess.run(made, capture_output=True)  # one that is refused writes nothing
        self.require_format(self.out)

    def require_format(self, folder):
        names = [str(file) for file in folder.rglob("*.?pp")]
        self.assertTrue(names)
        command = ["clang-format-19", f"--style=file:{PROJECT}/.clang-format", "--dry-run", "--Werror", *names]
        self.assertEqual("", subprocess.run(command, capture_output=True, text=True).stderr)


if __name__ == "__main__":
    unittest.main(warnings="ignore")
