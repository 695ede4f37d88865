#!/usr/bin/env bash
# The explorer beside Spin on one program, state by state and by rows: the same states, one
# processor, the same run.
#
#   benches/peers/run.sh [REPETITIONS]
#
# The runs alternate, and the best processor time of each tool counts. Spin counts the
# initial state as a transition; one is taken off, so that the numbers can be compared.
set -euo pipefail
cd "$(dirname "$0")/../.."
repetitions=${1:-3}
peers=$PWD/benches/peers
root=

install() {
    [ "$(id -u)" = 0 ] || root=sudo
    $root apt-get update -q >/dev/null
    $root apt-get install -y -q "$@" >/dev/null
}
command -v spin >/dev/null || install spin
command -v gcc >/dev/null || install gcc
[ -x /usr/bin/time ] || install time

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CARGO:-cargo} build --release --locked --quiet
fencesmith=${CARGO_TARGET_DIR:-target}/release/fencesmith

# Without statement merging, one transition is one step.
(cd "$work" && spin -o3 -a "$peers/filter3.pml" >/dev/null &&
    gcc -O3 -DSAFETY -DNOREDUCE -DMEMLIM=16000 -o pan pan.c)

# Runs a command into a file; prints the processor seconds it took. Not every exit code
# is 0: "inconclusive" is what bounded buffers end in.
cpu() {
    local out=$1
    shift
    /usr/bin/time -q -f '%U %S' -o "$work/time" "$@" >"$out" || true
    awk '{ print $1 + $2 }' "$work/time"
}
least() { awk -v a="$1" -v b="$2" 'BEGIN { print a != "" && a < b ? a : b }'; }

spin_cpu=
declare -A own_cpu
for ((run = 1; run <= repetitions; run++)); do
    seconds=$(cpu "$work/spin" "$work/pan" -m100000 -w24)
    spin_cpu=$(least "$spin_cpu" "$seconds")
    printf 'run %d: Spin %s s' "$run" "$seconds" >&2
    for search in plain rows; do
        seconds=$(cpu "$work/$search" "$fencesmith" verify "$peers/filter3.fen" --model pso \
            --abs exact --bound 1 --no-fuse --full --search $search --threads 1 --format json)
        own_cpu[$search]=$(least "${own_cpu[$search]:-}" "$seconds")
        printf ', %s %s s' $search "$seconds" >&2
    done
    echo >&2
done

spin_states=$(awk '/states, stored/ { print $1 }' "$work/spin")
spin_transitions=$(awk '/transitions \(=/ { print $1 - 1 }' "$work/spin")
# The states and the table that finds them.
spin_bytes=$(awk '/actual memory usage for states|used for hash table/ { sum += $1 }
    END { printf "%.0f", sum * 1048576 }' "$work/spin")
if grep -Eq 'max search depth too small|out of memory|errors: [1-9]' "$work/spin"; then
    echo "Spin did not finish its search:" >&2
    cat "$work/spin" >&2
    exit 1
fi
field() { sed -n "s/.*\"$2\": *\([0-9.]*\),*\$/\1/p" "$work/$1"; }

awk -v ss="$spin_states" -v st="$spin_transitions" -v sc="$spin_cpu" -v sb="$spin_bytes" \
    -v ps="$(field plain states)" -v pt="$(field plain transitions)" -v pc="${own_cpu[plain]}" \
    -v pb="$(field plain bytes_per_state)" -v rs="$(field rows states)" \
    -v rt="$(field rows transitions)" -v rc="${own_cpu[rows]}" -v rb="$(field rows bytes_per_state)" '
function row(name, states, transitions, cpu, bytes) {
    printf "%-25s %10d %12d %8.2f %16d %12.1f\n", name, states, transitions, cpu, states / cpu, bytes
}
BEGIN {
    printf "%-25s %10s %12s %8s %16s %12s\n", "", "states", "transitions", "CPU s", "states per CPU s", "bytes/state"
    row("Spin", ss, st, sc, sb / ss)
    row("fencesmith, plain search", ps, pt, pc, pb)
    row("fencesmith, by rows", rs, rt, rc, rb)
    spin = ss / sc
    printf "ratio of states per CPU second: plain %.2f, by rows %.1f\n", ps / pc / spin, rs / rc / spin
    if (ss != ps || st != pt || ss != rs || st != rt) {
        print "THE COUNTS DIFFER: the searches are not comparable."
        exit 1
    }
    print "the counts are equal"
}'
