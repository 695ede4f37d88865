#!/usr/bin/env bash
# Several processes of one worker each beside the search with shared memory and as many threads:
# states per CPU second, memory, and bytes over loopback. PROGRAM and OPTIONS can be given.
# LARGE=1 also searches a space that one process cannot hold in the memory it is given.
set -euo pipefail
cd "$(dirname "$0")/../.."
fencesmith=${FENCESMITH:-target/release/fencesmith}
program=${PROGRAM:-benches/peers/filter3.fen}
options=${OPTIONS:---model pso --abs exact --bound 1 --no-fuse}

sent() { awk '$1 == "lo:" { print $10 }' /proc/net/dev; }

# Prints a row: what was run, states, seconds, CPU seconds, states per CPU second, bytes.
measure() {
    local name=$1 before after out code=0
    shift
    before=$(sent)
    out=$({ TIMEFORMAT='TIME %R %U %S'; time "$fencesmith" verify "$program" $options \
        --search plain --full --no-trace --format json "$@"; } 2>&1) || code=$?
    after=$(sent)
    printf '%s\n' "$out" | python3 -c '
import json, sys
name, code, sent = sys.argv[1], sys.argv[2], int(sys.argv[3])
text = sys.stdin.read()
body, times = text.rsplit("TIME", 1)
real, user, system = map(float, times.split())
answer = json.loads(body[body.index("["):body.rindex("]") + 1])[0]
states = answer["stats"]["states"]
memory = answer["timing"].get("peak_bytes", 0) / max(states, 1)
cpu = user + system
ended = answer.get("stopped") or "all"
print(f"| {name} | {states:,} ({ended}) | {real:.1f} | {cpu:.1f} | {states / cpu / 1e6:.2f} M "
      f"| {memory:.1f} | {sent / max(states, 1):.1f} |")
' "$name" "$code" "$((after - before))"
}

echo "| search | states | s | CPU s | states per CPU s | bytes per state | bytes sent per state |"
echo "|---|---:|---:|---:|---:|---:|---:|"
for threads in 1 2 4; do
    measure "shared memory, threads: $threads" --threads $threads
done
for processes in 1 2 4; do
    measure "processes: $processes" --processes $processes --threads 1
done

# A tenth of the memory that the search takes, and the rest on disk.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
measure "on disk, memory: ${SPILL_MEMORY:-15M}" --threads 1 --max-memory "${SPILL_MEMORY:-15M}" \
    --spill "$scratch/spill"

# Who owns how many states: checkpoints hold 8 bytes a word of each, and little else.
"$fencesmith" verify "$program" $options --search plain --full --no-trace --quiet --processes 2 \
    --threads 1 --checkpoint "$scratch/kept" --checkpoint-every 0 > "$scratch/out" 2>&1 || true
du -sb "$scratch"/kept/*/worker-* | sed 's|\t.*/| bytes of states kept by |' >&2

if [ -n "${LARGE:-}" ]; then
    program=${LARGE_PROGRAM:-algorithms/mutex/filter-3.fen}
    options=${LARGE_OPTIONS:---model pso --abs exact --bound 1}
    each=${LARGE_MEMORY:-1600M}
    measure "one process of $each" --max-memory "$each" --threads 1
    measure "two processes of $each" --max-memory "$each" --processes 2 --threads 1
fi
