"""Losses of labels."""

from elementwise import cpp_dtype
from operators import listed, operator


def class_last(place):
    """The scores with classes as last axis, and the labels as int32."""
    rank = place.rank()
    scores = place[0] if rank == 2 else place.let(f"{place[0]}.transpose({listed([0, *range(2, rank), 1])})", "scores")
    return scores, place.let(f"{place[1]}.cast(tw::int32)", "labels") if place.dtype(1) != "int32" else place[1]


def losses(place, scores, labels):
    """The loss of each label from logarithms of probabilities, times the weight of its class; and these weights."""
    ignored, classes = place.attribute("ignore_index"), place.shape()[1]
    safe = labels
    if ignored is not None:
        counts = place.let(f"tw::ops::not_equal({labels}, {ignored})", "counts")
        safe = place.let(f"tw::ops::where({counts}, {labels}, 0)", "safe")
    weights = place.let(f"tw::ops::gather({place[2]}, {safe})", "weights") if place.has(2) else None
    if ignored is not None:
        weights = weights or f"ir().constant(1, {cpp_dtype(place.dtype())})"
        weights = place.let(f"tw::ops::where({counts}, {weights}, 0)", "weights")
    hot = f"tw::ops::onehot({safe}, {classes}, ir().constant({{0, -1}}, {{2}}, {cpp_dtype(place.dtype())}))"
    each = place.let(f"tw::ops::sum({scores} * {hot}, -1)", "losses")
    return (place.let(f"{each} * {weights}", "losses") if weights else each), weights


def combined(place, each, weights):
    reduction = place.attribute("reduction", "mean")
    if reduction == "none":
        return each
    if reduction == "sum":
        return f"tw::ops::sum({each})"
    return f"tw::ops::sum({each}) / tw::ops::sum({weights})" if weights else f"tw::ops::mean({each})"


@operator("NegativeLogLikelihoodLoss")
def nll_loss(place):
    return combined(place, *losses(place, *class_last(place)))


@operator("SoftmaxCrossEntropyLoss")
def softmax_cross_entropy(place):
    scores, labels = class_last(place)
    ignored, reduction = place.attribute("ignore_index"), place.attribute("reduction", "mean")
    logarithms = f"{place[0]} - tw::ops::logsumexp({place[0]}, 1, true)" if place.wants(1) else ""
    options = [f".reduction = tw::Reduction::{reduction}"] if reduction != "mean" else []
    if place.has(2):
        log_scores = place.let(f"{scores} - tw::ops::logsumexp({scores}, -1, true)", "logarithms")
        return [combined(place, *losses(place, log_scores, labels)), logarithms]
    if ignored is not None:
        options.insert(0, f".ignore_index = {ignored}")
    given = f", {{{', '.join(options)}}}" if options else ""
    return [f"tw::ops::cross_entropy({scores}, {labels}{given})", logarithms]
