"""RNN, GRU and LSTM, written out step by step."""

from elementwise import cpp_dtype
from operators import listed, number, operator
from shaping import sliced

ACTIVATIONS = {"Relu": "tw::ops::relu({0})", "Tanh": "tw::ops::tanh({0})", "Sigmoid": "tw::ops::sigmoid({0})",
               "Softsign": "({0}) / (1 + tw::ops::abs({0}))", "Softplus": "tw::ops::softplus({0})"}
DEFAULTS = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
STATES = {"RNN": 1, "GRU": 1, "LSTM": 2}
MOST_STEPS = 256


class Direction:
    """One direction of a recurrent operator. Weights have an axis of directions in front, which a slice removes."""

    def __init__(self, place, number_of_direction):
        self.place, self.at, self.op = place, number_of_direction, place.node.op
        self.gates, self.hidden = GATES[self.op], place.shape(2)[-1]
        names = place.attribute("activations")
        names = [each.decode() for each in names] if names else DEFAULTS[self.op] * place.shape(1)[0]
        count = len(DEFAULTS[self.op])
        self.functions = names[count * self.at:count * (self.at + 1)]
        for each in self.functions:
            place.require(each in ACTIVATIONS, f"activation {each}: one of {', '.join(ACTIVATIONS)} expected")
        self.clip = place.attribute("clip")
        self.weight, self.recurrence = (place.let(f"{self.part(i)}.T()", name) for i, name in ((1, "w"), (2, "r")))
        self.bias, self.recurrent_bias = self.biases()

    def part(self, i):
        """What an input has for this direction, without the axis of directions."""
        shape = self.place.shape(i)
        part = sliced(self.place[i], [(0, self.at, self.at + 1, 1)], shape)
        return f"{part}.reshape({listed(shape[1:])})"

    def biases(self):
        if not self.place.has(3):
            return None, None
        whole, columns = self.place.let(self.part(3), "biases"), self.gates * self.hidden
        return tuple(self.place.let(sliced(whole, [(0, begin, begin + columns, 1)], (2 * columns,)), "bias")
                     for begin in (0, columns))

    def activate(self, i, x):
        x = x if self.clip is None else f"tw::ops::clip({x}, -{number(self.clip, 'float32')}, {number(self.clip, 'float32')})"
        text = ACTIVATIONS[self.functions[i]]
        return text.format(self.place.let(x, "sum") if text.count("{0}") > 1 else x)

    def gate(self, x, i):
        rows = self.gates * self.hidden
        return sliced(x, [(1, i * self.hidden, (i + 1) * self.hidden, 1)], (None, rows))

    def step(self, x, states):
        """The states after a step."""
        let = self.place.let
        inputs = let(f"{x}.matmul({self.weight}){f' + {self.bias}' if self.bias else ''}", "inputs")
        if self.op == "GRU":
            return [self.gru_step(inputs, states[0])]
        sums = let(f"{inputs} + {states[0]}.matmul({self.recurrence}){f' + {self.recurrent_bias}' if self.bias else ''}", "sums")
        if self.op == "RNN":
            return [let(self.activate(0, sums), "state")]
        return self.lstm_step(sums, *states)

    def gru_step(self, inputs, state):
        let, hidden = self.place.let, self.hidden
        both = let(f"{state}.matmul({self.recurrence}){f' + {self.recurrent_bias}' if self.bias else ''}", "recurrent")
        update = let(self.activate(0, f"{self.gate(inputs, 0)} + {self.gate(both, 0)}"), "update")
        reset = let(self.activate(0, f"{self.gate(inputs, 1)} + {self.gate(both, 1)}"), "reset")
        if self.place.attribute("linear_before_reset", 0):
            recurrent = f"{reset} * {self.gate(both, 2)}"
        else:
            rows = (hidden, 3 * hidden)
            recurrent = f"({reset} * {state}).matmul({sliced(self.recurrence, [(1, 2 * hidden, 3 * hidden, 1)], rows)})"
            if self.bias:
                recurrent += f" + {sliced(self.recurrent_bias, [(0, 2 * hidden, 3 * hidden, 1)], (3 * hidden,))}"
        new = let(self.activate(1, f"{self.gate(inputs, 2)} + {recurrent}"), "candidate")
        return let(f"(1 - {update}) * {new} + {update} * {state}", "state")

    def lstm_step(self, sums, state, cell):
        let, hidden = self.place.let, self.hidden
        i, o, f, c = (self.gate(sums, gate) for gate in range(4))
        peepholes = None
        if self.place.has(7):
            whole = let(self.part(7), "peepholes")
            peepholes = [sliced(whole, [(0, k * hidden, (k + 1) * hidden, 1)], (3 * hidden,)) for k in range(3)]
            i, f = f"{i} + {peepholes[0]} * {cell}", f"{f} + {peepholes[2]} * {cell}"
        enter = let(self.activate(0, i), "enter")
        forget = f"(1 - {enter})" if self.place.attribute("input_forget", 0) else let(self.activate(0, f), "forget")
        new = let(f"{forget} * {cell} + {enter} * {self.activate(1, c)}", "cell")
        o = f"{o} + {peepholes[1]} * {new}" if peepholes else o
        show = let(self.activate(0, o), "show")
        return [let(f"{show} * {self.activate(2, new)}", "state"), new]


@operator("RNN", "GRU", "LSTM")
def recurrent(place):
    op, layout = place.node.op, place.attribute("layout", 0)
    shape = place.shape() if layout == 0 else (place.shape()[1], place.shape()[0], place.shape()[2])
    steps, batch, _ = shape
    place.require(steps <= MOST_STEPS, f"{steps} steps: at most {MOST_STEPS} expected")
    x = place[0] if layout == 0 else place.let(f"{place[0]}.transpose({{1, 0, 2}})", "steps")
    directions, hidden = place.shape(1)[0], place.shape(2)[-1]
    kinds = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[place.attribute("direction", "forward")]
    masks = length_masks(place, steps, batch) if place.has(4) else None
    by_direction = [run(Direction(place, d), x, shape, kind, masks, layout) for d, kind in enumerate(kinds)]
    row = listed([1, 1, batch, hidden])
    results = []
    if place.wants(0):
        lines = [f"{each[0][t]}.reshape({row})" for t in range(steps) for each in by_direction]
        rows = [place.let(f"tw::ops::concat({{{', '.join(lines[t:t + directions])}}}, 1)", "row") if directions > 1 else lines[t]
                for t in range(0, len(lines), directions)]
        whole = place.let(f"tw::ops::concat({{{', '.join(rows)}}}, 0)", "whole") if steps > 1 else rows[0]
        results.append(whole if layout == 0 else f"{whole}.transpose({{2, 0, 1, 3}})")
    else:
        results.append("")
    for s in range(STATES[op]):
        parts = [f"{each[1][s]}.reshape({listed([1, batch, hidden])})" for each in by_direction]
        last = parts[0] if directions == 1 else f"tw::ops::concat({{{', '.join(parts)}}}, 0)"
        results.append(last if layout == 0 else f"{last}.transpose({{1, 0, 2}})")
    return results


def length_masks(place, steps, batch):
    """For each step, whether each sequence has it: (batch, 1)."""
    lengths = place.let(f"{place[4]}.reshape({listed([batch, 1])})", "lengths")
    return [place.let(f"tw::ops::greater({lengths}, {t})", "within") for t in range(steps)]


def run(direction, x, shape, reverse, masks, layout):
    """The results by step, and the states after the last one."""
    place, (steps, batch, width) = direction.place, shape
    states = []
    for i in (5, 6)[:STATES[direction.op]]:
        if place.has(i):
            whole = place.shape(i)
            axis = layout
            part = sliced(place[i], [(axis, direction.at, direction.at + 1, 1)], whole)
            states.append(place.let(f"{part}.reshape({listed([batch, direction.hidden])})", "state"))
        else:
            zeros = f"ir().constant(tw::zeros(), {listed([batch, direction.hidden])}, {cpp_dtype(place.dtype())})"
            states.append(place.let(zeros, "state"))
    results = [None] * steps
    for t in reversed(range(steps)) if reverse else range(steps):
        row = place.let(f"{sliced(x, [(0, t, t + 1, 1)], shape)}.reshape({listed([batch, width])})", "x")
        new = direction.step(row, states)
        results[t] = new[0]
        if masks:
            results[t] = place.let(f"tw::ops::where({masks[t]}, {new[0]}, 0)", "result")
            new = [place.let(f"tw::ops::where({masks[t]}, {now}, {before})", "state") for now, before in zip(new, states)]
        states = new
    return results, states
