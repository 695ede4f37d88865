#!/usr/bin/env python3
"""Keeps what a search took as a line of JSON (note), and prints such lines as the tables of
results/scale.md (print). benches/scale/run.sh calls both."""

import json
import os
import subprocess
import sys


def note(section, name, sent, times):
    with open(times) as text:
        real, user, system = map(float, text.read().split())
    answer = json.load(sys.stdin)[0]
    stats = answer["stats"]
    json.dump({
        "section": section, "name": name, "sent": int(sent), "s": real, "cpu": user + system,
        "states": stats["states"], "transitions": stats["transitions"],
        "configurations": stats["configurations"], "ended": answer.get("stopped") or "all",
        "bytes": answer["timing"].get("peak_bytes", 0),
    }, sys.stdout)
    print()


def best(rows, section):
    """By name, the run with the fewest CPU seconds."""
    found = {}
    for row in rows:
        if row["section"] == section:
            known = found.setdefault(row["name"], row)
            if row["cpu"] < known["cpu"]:
                found[row["name"]] = row
    return found


def table(found):
    print("| search | states | s | CPU s | states per CPU s | bytes per state | bytes sent per state |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, row in found.items():
        states = max(row["states"], 1)
        print(f"| {name} | {row['states']:,} ({row['ended']}) | {row['s']:.1f} | {row['cpu']:.1f} "
              f"| {states / row['cpu'] / 1e6:.2f} M | {row['bytes'] / states:.1f} "
              f"| {row['sent'] / states:.1f} |")


def show(rows, kept):
    with open(rows) as lines:
        rows = [json.loads(line) for line in lines]
    with open(kept) as lines:
        kept = [int(line) for line in lines]
    machine = best(rows, "machine")
    print("## One machine\n")
    table(machine)
    shared = machine["shared memory, threads: 1"]
    ratios = [machine[f"processes: {count}"]["cpu"] / shared["cpu"] for count in (1, 2, 4)]
    print("\nCPU seconds of 1, 2 and 4 processes, by those of one thread with shared memory: "
          + ", ".join(f"{ratio:.2f}" for ratio in ratios) + ".")
    print(f"Transitions per state: {shared['transitions'] / shared['states']:.1f}; "
          f"configurations: {shared['configurations']:,}.")
    print("\n## Balance\n")
    print("Checkpoints of two processes: " + " and ".join(f"{size:,}" for size in kept)
          + f" bytes; they differ by {(max(kept) - min(kept)) / max(kept):.2%}.")
    large = best(rows, "large")
    if large:
        print("\n## More than 100 million states\n")
        table(large)
    print("\n## On disk\n")
    disk = best(rows, "disk")
    table(disk)
    memory, spilled = disk.values()
    print(f"\nCPU seconds on disk, by those in memory: {spilled['cpu'] / memory['cpu']:.1f}.")
    print("\n## Many machines, by calculation\n")
    four, two = machine["processes: 4"], machine["processes: 2"]
    arguments = ["--rate", f"{four['states'] / four['cpu'] / 1e6:.1f}e6",
                 "--sent", f"{two['sent'] / two['states']:.1f}"]
    print("`benches/scale/model.py " + " ".join(arguments) + "`:\n", flush=True)
    model = os.path.join(os.path.dirname(os.path.abspath(__file__)), "model.py")
    subprocess.run([sys.executable, model, *arguments], check=True)


if __name__ == "__main__":
    {"note": note, "print": show}[sys.argv[1]](*sys.argv[2:])
