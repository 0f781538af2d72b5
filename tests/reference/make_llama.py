#!/usr/bin/python3
"""Writes a small Llama as Hugging Face publishes one, the folder llama/ with config.json, two .safetensors files of bfloat16 and
their index, and llama.txt, its logits and the tokens that it writes.

    python3 tests/reference/make_llama.py        (Debian: apt-get install python3-torch python3-numpy)

The forward pass is written here from the papers: RMSNorm (arXiv 1910.07467), rotary positions of two halves (arXiv 2104.09864),
grouped queries (arXiv 2305.13245) and the gated feed-forward layer (arXiv 2002.05202). Results are computed in float64 from the
bfloat16 weights of the files. llama.txt also has the largest errors of logits if the result of each op is rounded to half
precision.
"""

import json
import math
import struct
from pathlib import Path

import torch
from fixtures import Fixtures

FOLDER = Path(__file__).with_name("llama")
CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "torch_dtype": "bfloat16", "hidden_act": "silu",
          "vocab_size": 96, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
          "num_key_value_heads": 2, "rms_norm_eps": 1e-05, "rope_theta": 50000.0, "rope_scaling": None,
          "tie_word_embeddings": False, "attention_bias": False, "max_position_embeddings": 64, "bos_token_id": 1,
          "eos_token_id": 2}
WIDTH, HIDDEN = CONFIG["hidden_size"], CONFIG["intermediate_size"]
LAYERS, VOCABULARY = CONFIG["num_hidden_layers"], CONFIG["vocab_size"]
HEADS, KEY_HEADS = CONFIG["num_attention_heads"], CONFIG["num_key_value_heads"]
HEAD = WIDTH // HEADS
PROMPT, NEW_TOKENS = [1, 17, 4, 80, 33, 5, 61, 9], 48


def random_weights():
    """bfloat16 weights by Hugging Face's names, linear ones as (out, in)."""
    def normal(rows, columns, gain=1.0):
        return (gain * torch.randn(rows, columns) / math.sqrt(columns)).bfloat16()

    def norm():
        return (1 + 0.25 * torch.randn(WIDTH)).bfloat16()

    weights = {"model.embed_tokens.weight": torch.randn(VOCABULARY, WIDTH).bfloat16()}
    for i in range(LAYERS):
        of_layer = {"input_layernorm": norm(), "post_attention_layernorm": norm(),
                    "self_attn.q_proj": normal(WIDTH, WIDTH, 2), "self_attn.k_proj": normal(KEY_HEADS * HEAD, WIDTH, 2),
                    "self_attn.v_proj": normal(KEY_HEADS * HEAD, WIDTH), "self_attn.o_proj": normal(WIDTH, WIDTH),
                    "mlp.gate_proj": normal(HIDDEN, WIDTH, 2), "mlp.up_proj": normal(HIDDEN, WIDTH),
                    "mlp.down_proj": normal(WIDTH, HIDDEN, 2)}
        weights |= {f"model.layers.{i}.{name}.weight": tensor for name, tensor in of_layer.items()}
    return weights | {"model.norm.weight": norm(), "lm_head.weight": normal(VOCABULARY, WIDTH, 3)}


def rms_norm(x, weight, rounded):
    return rounded(rounded(x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + CONFIG["rms_norm_eps"])) * weight)


def rotate(x, rounded):
    """Turns elements i and i + HEAD / 2 of each head as a pair, by an angle for the position. x: (batch, heads, length, HEAD)."""
    frequencies = CONFIG["rope_theta"] ** (-torch.arange(0, HEAD, 2).double() / HEAD)
    angles = torch.arange(x.shape[2]).double()[:, None] * frequencies
    a, b = x.chunk(2, -1)
    return rounded(torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1))


def attention(x, weights, layer, rounded):
    def heads(name, count):
        return rounded(x @ weights[f"{layer}self_attn.{name}_proj.weight"].T).unflatten(-1, (count, HEAD)).transpose(1, 2)

    q, k, v = rotate(heads("q", HEADS), rounded), rotate(heads("k", KEY_HEADS), rounded), heads("v", KEY_HEADS)
    k, v = (t.repeat_interleave(HEADS // KEY_HEADS, 1) for t in (k, v))
    scores = q @ k.transpose(2, 3) / math.sqrt(HEAD)
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    mixed = rounded(torch.softmax(scores.masked_fill(later, -math.inf), -1) @ v)
    return rounded(mixed.transpose(1, 2).flatten(2) @ weights[f"{layer}self_attn.o_proj.weight"].T)


def logits_of(weights, tokens, rounded=lambda x: x, head="lm_head.weight"):
    """Logits after each token. `rounded` is applied to the result of each op."""
    x = weights["model.embed_tokens.weight"][tokens]
    for i in range(LAYERS):
        layer = f"model.layers.{i}."
        x = rounded(x + attention(rms_norm(x, weights[layer + "input_layernorm.weight"], rounded), weights, layer, rounded))
        y = rms_norm(x, weights[layer + "post_attention_layernorm.weight"], rounded)
        gate, up = (rounded(y @ weights[f"{layer}mlp.{name}_proj.weight"].T) for name in ("gate", "up"))
        product = rounded(rounded(torch.nn.functional.silu(gate)) * up)
        x = rounded(x + rounded(product @ weights[layer + "mlp.down_proj.weight"].T))
    return rounded(rms_norm(x, weights["model.norm.weight"], rounded) @ weights[head].T)


def write_safetensors(path, tensors):
    header, buffer = {"__metadata__": {"format": "pt"}}, b""
    for name, tensor in tensors.items():
        content = tensor.contiguous().view(torch.int16).numpy().tobytes()
        header[name] = {"dtype": "BF16", "shape": list(tensor.shape), "data_offsets": [len(buffer), len(buffer) + len(content)]}
        buffer += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + buffer)
    return len(buffer)


def write_folder(weights):
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "config.json").write_text(json.dumps(CONFIG, indent=2) + "\n")
    parts = [{}, {}]
    for name, tensor in weights.items():
        parts[0 if "embed" in name or ".layers.0." in name else 1][name] = tensor
    index, total = {}, 0
    for number, part in enumerate(parts, 1):
        file = f"model-{number:05}-of-{len(parts):05}.safetensors"
        total += write_safetensors(FOLDER / file, part)
        index |= {name: file for name in part}
    text = json.dumps({"metadata": {"total_size": total}, "weight_map": index}, indent=2, sort_keys=True)
    (FOLDER / "model.safetensors.index.json").write_text(text + "\n")


torch.manual_seed(2302)
published = random_weights()
write_folder(published)
weights = {name: tensor.double() for name, tensor in published.items()}
tokens = list(PROMPT)
smallest_margin = math.inf
for _ in range(NEW_TOKENS):
    best = logits_of(weights, torch.tensor([tokens]))[0, -1].topk(2)
    smallest_margin = min(smallest_margin, float(best.values[0] - best.values[1]))
    tokens.append(int(best.indices[0]))
print(f"{len(set(tokens))} different tokens, the largest logit at least {smallest_margin:.4f} above the next")
assert smallest_margin > 1e-3 and len(set(tokens)) > 20

fixtures = Fixtures(2302)
all_tokens = torch.tensor([tokens])
first_tokens = all_tokens[:, : 2 * len(PROMPT)]
logits = logits_of(weights, first_tokens)
fixtures.write("llama.tokens", all_tokens)
fixtures.write("llama.logits", logits)
fixtures.write("llama.tied_logits", logits_of(weights, first_tokens, head="model.embed_tokens.weight")[:, -1])
for dtype in (torch.float16, torch.bfloat16):
    of_half = logits_of(weights, first_tokens, lambda x: x.to(dtype).double())
    name, error = str(dtype).rpartition(".")[2], float((of_half - logits).abs().max())
    print(f"{name}: largest error {error:.4f} of logits up to {float(logits.abs().max()):.2f}")
    fixtures.write(f"llama.{name}_error", torch.tensor([error]))
fixtures.save("llama.txt")
