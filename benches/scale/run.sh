#!/usr/bin/env bash
# Prints the tables of results/scale.md: several processes of one worker each beside the search with
# shared memory and as many threads (states per CPU second, memory, bytes over loopback), how states
# are distributed, the search on disk, and what many machines would do by calculation. Of RUNS runs
# in turn, the one with the fewest CPU seconds counts. PROGRAM and OPTIONS can be given. LARGE=1 also
# searches a space that one process cannot hold in the memory it is given, once.
set -euo pipefail
cd "$(dirname "$0")/../.."
fencesmith=${FENCESMITH:-target/release/fencesmith}
program=${PROGRAM:-benches/peers/filter3.fen}
options=${OPTIONS:---model pso --abs exact --bound 1 --no-fuse}
spill_memory=${SPILL_MEMORY:-15M}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

sent() { awk '$1 == "lo:" { print $10 }' /proc/net/dev; }

# Runs a search and keeps what it took: a section, a name, and options.
measure() {
    local section=$1 name=$2 before after
    shift 2
    before=$(sent)
    { TIMEFORMAT='%R %U %S'; time "$fencesmith" verify "$program" $options --search plain --full \
        --no-trace --quiet --format json "$@" > "$scratch/answer" 2> /dev/null || true; } 2> "$scratch/time"
    after=$(sent)
    benches/scale/tables.py note "$section" "$name" $((after - before)) "$scratch/time" \
        < "$scratch/answer" >> "$scratch/rows"
}

for ((run = 0; run < ${RUNS:-3}; run++)); do
    for threads in 1 2 4; do
        measure machine "shared memory, threads: $threads" --threads $threads
    done
    for processes in 1 2 4; do
        measure machine "processes: $processes" --processes $processes --threads 1
    done
    measure disk "in memory" --threads 1
    measure disk "on disk, memory: $spill_memory" --threads 1 --max-memory "$spill_memory" \
        --spill "$scratch/spill"
done

# Who owns how many states: checkpoints hold 8 bytes a word of each, and little else.
"$fencesmith" verify "$program" $options --search plain --full --no-trace --quiet --processes 2 \
    --threads 1 --checkpoint "$scratch/kept" --checkpoint-every 0 > /dev/null 2>&1 || true
du -sb "$scratch"/kept/*/worker-* | cut -f 1 > "$scratch/kept-bytes"

if [ -n "${LARGE:-}" ]; then
    sed 's/^const n = .*/const n = 5;/' benches/growth/clh.fen > "$scratch/clh-5.fen"
    program=${LARGE_PROGRAM:-$scratch/clh-5.fen}
    options=${LARGE_OPTIONS:---model tso --abs fd --k 1}
    each=${LARGE_MEMORY:-3000M}
    measure large "two processes of $each" --max-memory "$each" --processes 2 --threads 1
    measure large "one process of $each" --max-memory "$each" --threads 1
fi

benches/scale/tables.py print "$scratch/rows" "$scratch/kept-bytes"
