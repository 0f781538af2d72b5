"""Networks of PyTorch, which its exporter writes as ONNX: for the round trip."""

import torch
from torch import nn


class Cnn(nn.Module):
    """Convolutions with batch norms, and a residual."""

    def __init__(self):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.conv2, self.norm2 = nn.Conv2d(4, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
        self.pool, self.head = nn.MaxPool2d(2), nn.Linear(4 * 4 * 4, 5)

    def forward(self, x):
        x = self.pool(torch.relu(self.norm1(self.conv1(x))))
        x = torch.relu(self.norm2(self.conv2(x)) + x)
        return self.head(x.flatten(1))


class Depthwise(nn.Module):
    def __init__(self):
        super().__init__()
        self.deep = nn.Conv2d(3, 6, 3, stride=2, padding=1, groups=3)
        self.wide, self.head = nn.Conv2d(6, 8, 1), nn.Linear(8, 5)

    def forward(self, x):
        x = nn.functional.silu(self.wide(nn.functional.hardswish(self.deep(x))))
        return self.head(nn.functional.adaptive_avg_pool2d(x, 1).flatten(1))


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.lstm = nn.Embedding(12, 6), nn.LSTM(6, 5, batch_first=True, bidirectional=True)
        self.head = nn.Linear(10, 4)

    def forward(self, tokens):
        return self.head(self.lstm(self.embedding(tokens))[0])


class Encoder(nn.Module):
    """Two layers of a transformer's encoder, written with the parts that the exporter knows."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True, activation="gelu")
        self.layers, self.head = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.layers(x).mean(1))


class Parameters(nn.Module):
    """Parameters of which an export takes a part, copies, joins with zeros, or functions."""

    composed = {"MultiheadAttention": 1}  # what is no layer for these reasons

    def __init__(self):
        super().__init__()
        self.places, self.distances, self.first = (nn.Parameter(torch.randn(shape)) for shape in ((9, 8), (5,), (4,)))
        self.direction, self.size, self.gru = nn.Parameter(torch.randn(8, 8)), nn.Parameter(torch.ones(8, 1)), nn.GRU(8, 4)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True, add_bias_kv=True)

    def forward(self, x):
        place = torch.arange(5)
        x = self.distances[(place[:, None] - place).abs()] @ (x + self.places[:5])
        x = (x + torch.cat([self.first, torch.zeros(4)])) @ (self.size * self.direction / self.direction.norm(dim=1, keepdim=True)).T
        return self.gru(self.attention(x, x, x)[0])[0]


class Attentions(nn.Module):
    """Attention of one value and of several, with masks, without biases, and with the length or nothing before the width."""

    def __init__(self):
        super().__init__()
        self.own, self.causal, self.plain, self.cross = (nn.MultiheadAttention(8, 2, batch_first=True, bias=i != 2) for i in range(4))
        self.padded, self.both, self.three = (nn.MultiheadAttention(8, 4, batch_first=True) for _ in range(3))
        self.length_first, self.single = nn.MultiheadAttention(8, 1), nn.MultiheadAttention(8, 8)
        self.memory, self.other = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        after = torch.ones(5, 5, dtype=torch.bool).triu(1)
        memory = self.memory(x[:, :3])
        hidden = (x[:, :, 0] > 0.3) & (torch.arange(5) > 0)
        y = self.own(x, x, x, need_weights=False)[0] + self.causal(x, x, x, attn_mask=after)[0]
        y = y + self.plain(x, x, x, attn_mask=torch.zeros(5, 5).masked_fill(after, -torch.inf))[0] + self.cross(x, memory, memory)[0]
        y = y + self.padded(x, x, x, key_padding_mask=hidden)[0] + self.both(y, y, y, attn_mask=after, key_padding_mask=hidden)[0]
        y = y + self.three(y, x, self.other(x))[0]
        z = self.length_first(y, y, y)[0]  # attends to the axis of the batch
        return y + z + self.single(y[0], y[0], y[0])[0]


class GptBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.norm1, self.norm2 = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.attention(self.norm1(x)).chunk(3, -1))
        scores = q @ k.transpose(-2, -1) / (width // self.heads) ** 0.5
        mask = torch.ones(length, length, dtype=torch.bool).tril()
        scores = scores.masked_fill(~mask, float("-inf"))
        x = x + self.projection((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    """A small GPT whose head shares the table of its tokens."""

    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(11, 8), nn.Embedding(6, 8)
        self.blocks, self.norm = nn.ModuleList(GptBlock(8, 2) for _ in range(2)), nn.LayerNorm(8)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.norm(x) @ self.tokens.weight.T


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2 = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 8, 3, padding=1)
        self.up, self.join, self.head = nn.ConvTranspose2d(8, 4, 2, stride=2), nn.Conv2d(8, 4, 3, padding=1), nn.Conv2d(4, 2, 1)

    def forward(self, x):
        first = torch.relu(self.down1(x))
        second = torch.relu(self.down2(nn.functional.max_pool2d(first, 2)))
        return self.head(torch.relu(self.join(torch.cat([first, self.up(second)], 1))))


class PointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.points, self.norm, self.more, self.head = nn.Conv1d(3, 8, 1), nn.BatchNorm1d(8), nn.Conv1d(8, 16, 1), nn.Linear(16, 4)

    def forward(self, x):
        x = torch.relu(self.norm(self.points(x)))
        return self.head(self.more(x).max(2)[0])


class Quantised(nn.Module):
    """Convolutions and a product of integers, whose scales come from a batch."""

    def __init__(self):
        super().__init__()
        self.quant, self.dequant = torch.ao.quantization.QuantStub(), torch.ao.quantization.DeQuantStub()
        self.conv1, self.conv2, self.head = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 8, 3, stride=2), nn.Linear(72, 5)

    def forward(self, x):
        x = torch.relu(self.conv2(torch.relu(self.conv1(self.quant(x)))))
        return self.dequant(self.head(x.flatten(1)))


def quantised():
    torch.backends.quantized.engine = "qnnpack"
    network, given = Quantised().eval(), torch.randn(16, 1, 8, 8)
    network.qconfig = torch.ao.quantization.get_default_qconfig("qnnpack")
    torch.ao.quantization.prepare(network, inplace=True)(given)
    return torch.ao.quantization.convert(network, inplace=True), given


def networks():
    """By name: the network and an input."""
    torch.manual_seed(1)
    perceptron = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 3))
    autoencoder = nn.Sequential(nn.Linear(12, 6), nn.Sigmoid(), nn.Linear(6, 3), nn.ELU(), nn.Linear(3, 6), nn.LeakyReLU(0.1),
                                nn.Linear(6, 12))
    return {"Perceptron": (perceptron, torch.randn(4, 6)), "Cnn": (Cnn(), torch.randn(4, 1, 8, 8)),
            "Depthwise": (Depthwise(), torch.randn(2, 3, 8, 8)), "Tagger": (Tagger(), torch.randint(12, (2, 5))),
            "Encoder": (Encoder(), torch.randn(2, 4, 8)), "Gpt": (Gpt(), torch.randint(11, (2, 6))),
            "UNet": (UNet(), torch.randn(1, 1, 8, 8)), "Autoencoder": (autoencoder, torch.randn(4, 12)),
            "PointNet": (PointNet(), torch.randn(2, 3, 10)), "Quantised": quantised()}


def more_networks():
    """Those that no table has."""
    torch.manual_seed(2)
    return {"Attentions": (Attentions(), torch.randn(2, 5, 8)), "Parameters": (Parameters(), torch.randn(2, 5, 8))}


def export(network, given, path, training):
    """Writes a network as ONNX; for training with the names of its weights."""
    mode = torch.onnx.TrainingMode.TRAINING if training else torch.onnx.TrainingMode.EVAL
    opset = 13 if isinstance(network, Quantised) else 17
    torch.onnx.export(network, given, str(path), opset_version=opset, training=mode, do_constant_folding=not training,
                      input_names=["x"], output_names=["y"])
