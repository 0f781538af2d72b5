#!/usr/bin/python3
"""Writes first_values.txt: how PyTorch's layers draw the first values of their parameters.

    python3 tests/reference/make_first_values.py        (Debian: apt-get install python3-torch python3-numpy)

<case>.<parameter> has three numbers: 0, a, a for the constant a; 1, a, b for a uniform distribution in [a, b); 2, a, b for a
normal one of mean a and standard deviation b. They are what PyTorch itself calls to fill a parameter, last of all.
"""

import torch
from fixtures import Fixtures

nn = torch.nn
CONSTANT, UNIFORM, NORMAL = 0, 1, 2
filled = {}  # by the tensor's id, what filled it last; with the tensor, so that no other gets the id


def record(function, description):
    original = getattr(torch.Tensor, function)

    def recording(tensor, *arguments, **options):
        filled[id(tensor)] = tensor, description(*arguments, **options)
        return original(tensor, *arguments, **options)

    setattr(torch.Tensor, function, recording)


record("uniform_", lambda low=0.0, high=1.0: (UNIFORM, low, high))
record("normal_", lambda mean=0.0, std=1.0: (NORMAL, mean, std))
record("fill_", lambda value: (CONSTANT, value, value))
record("zero_", lambda: (CONSTANT, 0, 0))
fixtures = Fixtures(1613)


def write(name, kind, a, b):
    fixtures.write(name, torch.tensor([kind, a, b], dtype=torch.float64))


def case(name, layer):
    for key, tensor in [*layer.named_parameters(), *layer.named_buffers()]:
        if key == "num_batches_tracked":
            continue
        kind, a, b = filled[id(tensor)][1]
        low, high = tensor.min().item(), tensor.max().item()
        assert kind == NORMAL and high - low > 5 * b or a <= low <= high <= b, (name, key)
        write(f"{name}.{key}", kind, a, b)


case("linear", nn.Linear(3, 120_000))
case("wide_linear", nn.Linear(400, 300, bias=False))
case("embedding", nn.Embedding(1_000, 120))
case("conv", nn.Conv2d(6, 100_000, (1, 2), groups=2))
case("conv1d", nn.Conv1d(250, 130, 4))
case("conv_transpose", nn.ConvTranspose2d(4, 100_000, (1, 2), groups=2))
case("layer_norm", nn.LayerNorm(7))
case("group_norm", nn.GroupNorm(2, 6))
case("batch_norm", nn.BatchNorm1d(6))
case("gru", nn.GRU(210, 200, num_layers=2, batch_first=True))
case("lstm", nn.LSTM(170, 160, batch_first=True))
case("attention", nn.MultiheadAttention(320, 4, batch_first=True))
case("encoder_layer", nn.TransformerEncoderLayer(320, 4, batch_first=True))

# Hugging Face's layers of Llama: LlamaConfig.initializer_range is 0.02, the deviation of all matrices in
# LlamaPreTrainedModel._init_weights; norms are ones.
for part in ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj",
             "mlp.down_proj"):
    write(f"llama.{part}.weight", NORMAL, 0, 0.02)
for part in ("input_layernorm", "post_attention_layernorm"):
    write(f"llama.{part}.weight", CONSTANT, 1, 1)

fixtures.save("first_values.txt")
