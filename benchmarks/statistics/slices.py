"""Tables from lines of benchmarks/slices.jsonl on stdin: `slices.py SERIES WHAT`."""

import json
import math
import sys
from collections import defaultdict
from itertools import combinations
from statistics import fmean, stdev, variance

import numpy as np
from scipy.stats import binomtest

from loomlab.statistics.student import estimates


def pairs_of(lines):
    """By pair, load and design: for each block the log ratio, and of slices the log ratios of ABBA quarters of it."""
    found = defaultdict(list)
    for line in lines:
        runs = defaultdict(dict)
        for run in line["runs"]:
            if run["verdict"] != "invalid" and run["cpu_ms_per_request"]:
                runs[run["repeat"], run["connections"]][run["approach"]] = run
        for (_, connections), sides in runs.items():
            for a, b in combinations(sorted(sides), 2):
                if line["design"] == "slices" and sides[a]["partner"] != b:
                    continue
                one, other = sides[a], sides[b]
                slices = [[math.log(each["cpu_ms_per_request"]) for each in side["slices"]] for side in (one, other)]
                quarters = [fmean(slices[0][at : at + 2]) - fmean(slices[1][at : at + 2]) for at in range(0, len(slices[0]), 2)]
                log = math.log(one["cpu_ms_per_request"] / other["cpu_ms_per_request"])
                found[a, b, connections, line["design"]].append((log, quarters, line["wall_s"], line["ended"]))
    return found


def interval(logs):
    estimated = estimates(logs)
    mean, half = float(estimated.mean), float(estimated.half_width)
    return f"{math.exp(mean):.3f} [{math.exp(mean - half):.3f}, {math.exp(mean + half):.3f}]"


def main(series, what):
    lines = [json.loads(line) for line in sys.stdin]
    lines = [line for line in lines if line["series"] == series and line["what"] in what.split(",")]
    verdicts = defaultdict(int)
    for line in lines:
        for run in line["runs"]:
            verdicts[run["verdict"]] += 1
    print(f"{len(lines)} sweeps, {dict(verdicts)}, {sum(line['wall_s'] for line in lines) / 3600:.1f} h")
    for key, blocks in sorted(pairs_of(lines).items()):
        a, b, connections, design = key
        logs = [log for log, *_ in blocks]
        if len(logs) < 3:
            continue
        print(f"{a} ÷ {b}, {connections} connections, {design}: {interval(logs)}, {len(logs)} blocks, deviation {stdev(logs):.4f}")
        quarters = [own for _, own, *_ in blocks if len(own) > 1]
        if quarters:
            within = fmean(variance(own) for own in quarters)
            count = len(quarters[0])
            between = max(variance(logs) - within / count, 0)
            print(f"  within blocks: deviation of a pair of slices {math.sqrt(within):.4f}; between processes {math.sqrt(between):.4f}")
        for number in (5, 10):
            resampled(np.array(logs), number)
    exact(lines)


def resampled(logs, number, times=20_000):
    """How often intervals of experiments drawn from these blocks hold their mean."""
    if len(logs) < 2 * number:
        return
    drawn = np.random.default_rng(1).choice(logs, (times, number)) - logs.mean()
    found = estimates(drawn)
    print(f"  experiments of {number} blocks, resampled: intervals hold the mean in {np.mean(np.abs(found.mean) <= found.half_width):.1%}")


def exact(lines):
    """How many experiments claim a difference, with Clopper and Pearson's interval."""
    told = [one for line in lines for one in line["comparisons"] if one["figure"] == "CPU per request" and one["low"] is not None]
    claims = sum(one["low"] > 1 or one["high"] < 1 for one in told)
    if told:
        low, high = binomtest(claims, len(told)).proportion_ci()
        print(f"{claims} of {len(told)} intervals exclude 1 [{low:.1%}, {high:.1%}]")


if __name__ == "__main__":
    main(*sys.argv[1:])
