#!/usr/bin/python3
"""Writes metrics.txt: outputs of classifiers with labels, and metrics of them by NumPy, PyTorch and scikit-learn.

    /usr/bin/python3 tests/reference/make_metric_values.py        (Debian: apt-get install python3-torch python3-sklearn)

A line is a list, in the format of ops.txt. Rows of outputs have ties, and one row has a NaN, which no class is taken for. Cases named
`padded` have labels of -100, which do not count.
"""

from pathlib import Path

import numpy as np
import torch
from sklearn import metrics

ROWS, CLASSES, PADDING = 40, 5, -100
lines = []


def write(name, values):
    array = np.asarray(values)
    lines.append(" ".join([name, str(array.ndim), *map(str, array.shape), *(format(value, ".17g") for value in array.reshape(-1))]))


def shares(outputs, labels, k):
    """Whether the label is among the k largest outputs, of equal ones the first; never in a row with a NaN."""
    order = np.argsort(-outputs, axis=1, kind="stable")  # NaN last
    found = (order[:, :k] == labels[:, None]).any(1)
    return found & ~np.isnan(outputs).any(1)


def main():
    random = np.random.default_rng(7)
    outputs = random.integers(-8, 9, (ROWS, CLASSES)) / 4.0
    labels = random.integers(0, CLASSES, ROWS)
    outputs[np.arange(ROWS), labels] += 0.75  # more right than by chance
    perplexity_outputs = outputs.copy()
    outputs[3, 1] = np.nan
    padded = np.where(np.arange(ROWS) % 7 == 2, PADDING, labels)
    write("outputs", outputs)
    write("labels", labels)
    write("padded", padded)
    for k in (1, 2, 5):
        write(f"top{k}", shares(outputs, labels, k).mean())
    write("top2.padded", shares(outputs, padded, 2)[padded != PADDING].mean())
    write("top1.first_17", shares(outputs, labels, 1)[:17].mean())

    has_class = ~np.isnan(outputs).any(1)
    predicted = np.argmax(np.nan_to_num(outputs, nan=0), axis=1)
    matrix = np.zeros((CLASSES, CLASSES), int)
    np.add.at(matrix, (labels[has_class], predicted[has_class]), 1)
    write("matrix", matrix)
    precision = [np.mean(labels[has_class & (predicted == c)] == c) for c in range(CLASSES)]
    recall = [np.mean((predicted == c)[labels == c] & has_class[labels == c]) for c in range(CLASSES)]
    f1 = [2 * p * r / (p + r) for p, r in zip(precision, recall)]
    write("precision", precision)
    write("recall", recall)
    write("f1", f1)
    write("macro_f1", np.mean(f1))

    # Labels of the classes 0 and 1, predictions of 0, 1 and 2; scikit-learn's defaults
    few = perplexity_outputs - [0, 0, 1, 99, 99]
    few_labels, few_predicted = labels % 2, np.argmax(few, axis=1)
    write("few.outputs", few)
    write("few.labels", few_labels)
    present = metrics.precision_recall_fscore_support(few_labels, few_predicted)
    for name, values in zip(("precision", "recall", "f1"), present):
        write(f"few.{name}", values)
    write("few.macro_f1", metrics.f1_score(few_labels, few_predicted, average="macro"))
    write("few.accuracy", metrics.accuracy_score(few_labels, few_predicted))
    write("few.matrix", metrics.confusion_matrix(few_labels, few_predicted))

    write("logits", perplexity_outputs)
    cross_entropy = torch.nn.functional.cross_entropy
    write("perplexity", np.exp(cross_entropy(torch.tensor(perplexity_outputs), torch.tensor(labels)).item()))
    write("perplexity.padded", np.exp(cross_entropy(torch.tensor(perplexity_outputs), torch.tensor(padded)).item()))
    values, weights = random.normal(size=30), random.integers(0, 5, 30)
    write("values", values)
    write("weights", weights)
    write("mean", np.average(values))
    write("weighted_mean", np.average(values, weights=weights))
    path = Path(__file__).with_name("metrics.txt")
    path.write_text("\n".join(lines) + "\n")
    print(f"{path.name}: {len(lines)} lists")


if __name__ == "__main__":
    main()
