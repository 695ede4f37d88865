#!/usr/bin/env bash
# Opens a report in a real browser and uses it as a person would. Needs Chromium and
# Python 3: what is missing is installed on Debian; where that fails the test is skipped.
# Arguments are passed on: --screenshots DIR keeps pictures of the page.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! tests/install.sh chromium python3; then
    echo "SKIPPED: the browser test needs chromium and python3, and they cannot be installed here"
    exit 0
fi

# The binary that the tests have built.
cargo test --locked --no-run --test commands
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fencesmith=target/debug/fencesmith
"$fencesmith" compare algorithms/litmus/mp.fen algorithms/paper/fig6.fen --k 0..=2 --out "$work/compare" -q >/dev/null
"$fencesmith" sweep algorithms/mutex/peterson.fen algorithms/litmus/mp.fen --mode infer --k auto,1 --abs fd \
    --model tso,pso --all --out "$work/infer" -q >/dev/null
"$fencesmith" verify algorithms/mutex/peterson.fen --format json >"$work/verify.json" || [ $? = 1 ]
# A process with a name that every object of the script inherits, and a step without memory.
cat >"$work/names.fen" <<'END'
shared bool x, y;
process constructor { bool r; store x = true; load r = y; }
process q { bool r; store y = true; load r = x; }
final constructor.r || q.r;
END
"$fencesmith" verify "$work/names.fen" --model tso --format json >"$work/names.json" || [ $? = 1 ]
python3 - "$work/names.json" <<'END'
import json, sys
answers = json.load(open(sys.argv[1]))
answers[0]["program"] = "algorithms/names.fen"
del answers[0]["trace"][0]["memory"]
json.dump(answers, open(sys.argv[1], "w"))
END
"$fencesmith" report "$work/infer" "$work/compare" "$work/verify.json" "$work/names.json" --html "$work/report.html"
python3 tests/browser/check.py "$work/report.html" "$@"
