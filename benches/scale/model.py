#!/usr/bin/env python3
"""What many machines would do with a large space: a calculation, not a measurement.

Levels are drawn from a bell curve over the depth, the states of a level are given to workers at
random, and a level takes as long as its slowest worker, plus the rounds at its end.

    benches/scale/model.py --states 1e11 --depth 300 --rate 1.2e6 --sent 30
"""

import argparse
import math

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--states", type=float, default=1e11, help="states of the space")
parser.add_argument("--depth", type=int, default=300, help="levels")
parser.add_argument("--rate", type=float, default=1.2e6, help="states per second of a worker")
parser.add_argument("--sent", type=float, default=30, help="bytes sent per state by two workers")
parser.add_argument("--portion", type=int, default=16384, help="states of a worker in a round")
parser.add_argument("--latency", type=float, default=200e-6, help="seconds of a round at least")
parser.add_argument("--report", type=int, default=120, help="bytes of a report, frames included")
parser.add_argument("--link", type=float, default=1.25e9, help="bytes per second of a machine")
parser.add_argument("--workers", type=int, default=16, help="workers of a machine")
parser.add_argument("--machines", type=int, nargs="*", default=[1, 3, 10, 30, 100])
arguments = parser.parse_args()

weights = [math.exp(-((level / arguments.depth - 0.5) ** 2) / 0.045) for level in range(arguments.depth)]
levels = [arguments.states * weight / sum(weights) for weight in weights]

print("| machines | workers | hours | useful | lost at the end of levels | worst / mean states of a worker in the largest level | rounds | reports per level | network of a machine |")
print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
for machines in arguments.machines:
    count = machines * arguments.workers
    remote = (machines - 1) / machines
    # Two workers of different processes send half of what is found.
    sent = arguments.sent * 2 * remote
    total = lost = rounds = 0
    worst = 1.0
    for states in levels:
        mean = states / count
        # The largest of many nearly normal shares.
        spread = math.sqrt(max(mean, 1e-9)) * math.sqrt(2 * math.log(max(count, 2)))
        slowest = mean + spread
        portions = math.ceil(slowest / arguments.portion) + 2
        compute = slowest / arguments.rate
        reports = portions * count * (count - arguments.workers) * arguments.report / machines
        traffic = (states * sent / machines + reports) / arguments.link
        busy = max(compute, traffic, portions * arguments.latency)
        total += busy
        lost += busy - mean / arguments.rate
        rounds += portions
        if states == max(levels):
            worst = slowest / mean
    network = arguments.states * sent / machines / total
    print(f"| {machines} | {count} | {total / 3600:.2f} | {1 - lost / total:.1%} | {lost:,.0f} s "
          f"| {worst:.4f} | {rounds:,} | {rounds / arguments.depth * count * (count - 1):,.0f} "
          f"| {network / 1e6:,.0f} MB/s |")
