"""Makes the rows of a table from recordings of one program with several numbers of threads.

A recording is what tw::recording_to_json writes. Runs that failed do not count, nor runs of another body or with another number of
threads. Of the remaining runs the slower half does not count: other work of the machine makes runs slower, never faster. Figures are
means of a run, in microseconds.
"""

from collections import defaultdict
from statistics import mean, median

WORK = ("compute", "collective")
LEAST_SHARE = 0.01  # of a run, for a row of its own


def by_run(recording, threads):
    """(run, events of each worker by time) of the runs that count."""
    runs = {i: run for i, run in enumerate(recording["runs"]) if run["body"] == 0 and not run["failed"] and run["threads"] == threads}
    if not runs:
        raise ValueError(f"{recording['program']}: no run of {threads} threads in the recording: one expected")
    longest = median(run["end"] - run["begin"] for run in runs.values())
    events = {i: [[] for _ in range(threads)] for i, run in runs.items() if run["end"] - run["begin"] <= longest}
    for worker, run, step, kind, begin, end, _ in recording["events"]:
        if run in events:
            events[run][worker].append((begin, end, recording["kinds"][kind], step))
    return [(runs[i], [sorted(own) for own in workers]) for i, workers in events.items()]


def kind_names(recording):
    """The name of each compute set that steps run: its ops, and its number where others have the same."""
    labels = {step["compute_set"]: step["label"] for step in recording["steps"] if step["compute_set"] >= 0}
    double = {label for label in labels.values() if list(labels.values()).count(label) > 1}
    return {number: f"{label} ({number})" if label in double else label for number, label in labels.items()}


def segments(workers):
    """The work between two barriers, one after the other: for each worker its events of work and the wait at their end."""
    own = [[] for _ in workers]
    for worker, events in enumerate(workers):
        work = []
        for event in events:
            if event[2] in WORK:
                work.append(event)
            elif event[2] in ("barrier", "end"):
                own[worker].append((work, event))
                work = []
    if len({len(each) for each in own}) == 1:
        return [list(each) for each in zip(*own)]
    return [[each] for worker in own for each in worker]  # workers that meet at different barriers: each by itself


def cause(segment, compute_set):
    """The compute set on which the worker that came last was longest, for whom the others wait; None if it did no work."""
    work = max(segment, key=lambda each: each[1][0])[0]
    spent = defaultdict(int)
    for begin, end, _, step in work:
        spent[compute_set[step]] += end - begin
    return max(spent, key=spent.get) if spent else None


class Figures:
    """Of one number of threads: `compute[compute set][worker]`, `waiting[compute set]` of all workers together, None for no work
    that they wait for; `start` and `rest`, of all workers; `run`."""

    def __init__(self, recording, threads):
        compute_set = [step["compute_set"] for step in recording["steps"]]
        counted = by_run(recording, threads)
        self.threads, self.runs = threads, len(counted)
        self.compute = defaultdict(lambda: [0.0] * threads)
        self.waiting = defaultdict(float)
        self.start = self.all_time = 0.0
        unit = 1 / (1000 * len(counted))
        for run, workers in counted:
            self.all_time += (run["end"] - run["begin"]) * threads * unit
            for worker, events in enumerate(workers):
                for begin, end, kind, step in events:
                    if kind in WORK:
                        self.compute[compute_set[step]][worker] += (end - begin) * unit
                    elif kind == "start":
                        self.start += (end - begin) * unit
            for segment in segments(workers):
                self.waiting[cause(segment, compute_set)] += sum(wait[1] - wait[0] for _, wait in segment) * unit
        self.run = self.all_time / threads
        self.rest = self.all_time - self.all_compute() - self.start - sum(self.waiting.values())

    def all_compute(self):
        return sum(map(sum, self.compute.values()))

    def by_worker(self):
        return [sum(own) for own in zip(*self.compute.values())]


def microseconds(value):
    return f"{value:,.0f}" if value >= 99.5 else f"{value:.3g}"


def spread(values):
    return " | ".join(map(microseconds, (min(values), mean(values), max(values))))


def ratio(alone, together):
    return f"{alone / together:.2f}" if together > 0 and alone > 0 else ""


def head(threads):
    """The table's head, for numbers of threads, 1 first."""
    columns = ["work", "step", "vertices", "alone, us", f"compute of {threads[-1]} workers, us: least", "mean", "most", "waiting, us",
               "share", *(f"speed beside {n - 1}" for n in threads[1:])]
    return f"| {' | '.join(columns)} |\n| --- | --- |{' ---: |' * (len(columns) - 2)}"


def rows(work, recordings):
    """The rows of a program, of recordings by number of threads, 1 among them: each kind of step with 1 % of the time or more, the
    rest, and each number of threads as a whole. Waiting is that of a worker, as a mean; it counts to the step on which the worker that
    came last to the barrier was longest. Share: of the time of all workers, with waiting. Speed: the kernel's time alone by the time
    of all workers together with more threads."""
    figures = {threads: Figures(recording, threads) for threads, recording in sorted(recordings.items())}
    most = figures[max(figures)]
    names = kind_names(recordings[most.threads])
    vertices = defaultdict(set)
    for step in recordings[most.threads]["steps"]:
        vertices[step["compute_set"]].add(step["parts"])
    share = {kind: (sum(most.compute[kind]) + most.waiting[kind]) / most.all_time for kind in names if kind in most.compute}
    shown = [kind for kind in sorted(share, key=share.get, reverse=True) if share[kind] >= LEAST_SHARE]
    others = [kind for kind in share if kind not in shown]

    def row(name, count, kinds):
        sums = {n: sum(sum(each.compute[kind]) for kind in kinds if kind in each.compute) for n, each in figures.items()}
        workers = [sum(own) for own in zip(*(most.compute[kind] for kind in kinds))]
        waiting = sum(most.waiting[kind] for kind in kinds)
        speeds = [ratio(sums[1], sums[n]) for n in list(figures)[1:]]
        return [work, name, count, microseconds(sums[1]), spread(workers), microseconds(waiting / most.threads),
                f"{(sum(workers) + waiting) / most.all_time:.1%}", *speeds]

    table = [row(names[kind], "; ".join(map(str, sorted(vertices[kind]))), [kind]) for kind in shown]
    if others:
        table.append(row(f"{len(others)} kinds of less than 1 %", "", others))
    blank = [""] * (len(figures) - 1)
    for name, value in (("start of a run", most.start), ("waiting for none of these", most.waiting[None]),
                        ("between events", most.rest)):
        if value / most.all_time >= 0.0005:
            waiting = microseconds(value / most.threads)
            table.append([work, name, "", "", " |  | ", waiting, f"{value / most.all_time:.1%}", *blank])
    alone = figures[1]
    for n, each in figures.items():
        waiting = (each.start + sum(each.waiting.values())) / n
        name = f"**all, {n} thread{'s' if n > 1 else ''}: a run of {microseconds(each.run)} us, {alone.run / each.run:.2f} times**"
        speeds = [ratio(alone.all_compute(), each.all_compute()) if n == m else "" for m in list(figures)[1:]]
        table.append([work, name, "", microseconds(alone.all_compute()) if n > 1 else "", spread(each.by_worker()),
                      microseconds(waiting), f"{waiting * n / each.all_time:.1%} waiting", *speeds])
    return "\n".join(f"| {' | '.join(row)} |" for row in table)
