#!/usr/bin/env bash
# Runs commands twice with one seed and compares the bytes, then with another
# seed, which must differ. Reads nothing but the tree, writes to a temporary
# folder only.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/bourse" ./cmd/bourse
bourse=$work/bourse

fail() {
  echo "determinism: $*" >&2
  exit 1
}

# same NAME WORDS...: stdout of the command is the same in two runs.
same() {
  local name=$1
  shift
  "$bourse" "$@" >"$work/$name.1" 2>"$work/err" || fail "bourse $*: $(cat "$work/err")"
  "$bourse" "$@" >"$work/$name.2" 2>"$work/err" || fail "bourse $*: $(cat "$work/err")"
  [ -s "$work/$name.1" ] || fail "bourse $*: no output"
  cmp "$work/$name.1" "$work/$name.2" || fail "bourse $*: two runs differ"
}

# words COMMAND FLAG: the words that a flag takes, as the shell completes them.
words() {
  "$bourse" __complete "$@" "" 2>"$work/err" | grep -v '^:' | grep . || fail "bourse $* takes no words"
}

# folders SEED: a simulation with that seed written twice is the same files.
folders() {
  local seed=$1 run
  for run in a b; do
    "$bourse" simulate --seed "$seed" --out "$work/sim-$seed-$run" >"$work/sim-$seed-$run.out" 2>"$work/err" ||
      fail "bourse simulate --seed $seed: $(cat "$work/err")"
  done
  [ -s "$work/sim-$seed-a/jobs.csv" ] || fail "bourse simulate --seed $seed wrote no jobs.csv"
  diff -r "$work/sim-$seed-a" "$work/sim-$seed-b" || fail "bourse simulate --seed $seed: two runs differ"
  # The table says where the files lie: that is all in which it may differ.
  diff <(sed "s|sim-$seed-a|OUT|g" "$work/sim-$seed-a.out") <(sed "s|sim-$seed-b|OUT|g" "$work/sim-$seed-b.out") ||
    fail "bourse simulate --seed $seed: two tables differ"
}

same generate-7 generate --model lublin --jobs 2000 --procs 128 --seed 7
same generate-8 generate --model lublin --jobs 2000 --procs 128 --seed 8
! cmp -s "$work/generate-7.1" "$work/generate-8.1" || fail "generate: seeds 7 and 8 give the same workload"

cp "$work/generate-7.1" "$work/trace.swf"
for policy in $(words replay --policy | sed 's/=K/=3/; /^slurm$/d'); do # slurm needs the files of a cluster
  same "replay-$policy" replay "$work/trace.swf" --procs 128 --policy "$policy" --json
done
same replay-reservations-1 replay "$work/trace.swf" --procs 128 --policy easy --reservations 0.1 --alpha 0.5 --seed 1 --json
same replay-reservations-2 replay "$work/trace.swf" --procs 128 --policy easy --reservations 0.1 --alpha 0.5 --seed 2 --json
! cmp -s "$work/replay-reservations-1.1" "$work/replay-reservations-2.1" || fail "replay: seeds 1 and 2 draw the same reservations"

cat >"$work/problem.json" <<'JSON'
{"slots": [{"node": "cpu1", "start": 0, "end": 6000, "performance": 1, "price": 5},
           {"node": "cpu2", "start": 0, "end": 6000, "performance": 2, "price": 9},
           {"node": "cpu3", "start": 0, "end": 6000, "performance": 1, "price": 5}],
 "jobs": [{"name": "J1", "nodes": 2, "length": 800, "minPerformance": 1, "maxPrice": 8},
          {"name": "J2", "nodes": 1, "length": 500, "minPerformance": 1, "maxPrice": 9}]}
JSON
for algorithm in $(words search --algorithm); do
  same "search-$algorithm" search "$work/problem.json" --algorithm "$algorithm" --json
  same "plan-$algorithm" plan "$work/problem.json" --algorithm "$algorithm" --minimize cost --pareto --json
done

# Seeds in parallel come out as one after the other.
same runs simulate --seed 7 --runs 4 --json
GOMAXPROCS=1 "$bourse" simulate --seed 7 --runs 4 --json >"$work/runs.serial" 2>"$work/err" || fail "$(cat "$work/err")"
cmp "$work/runs.1" "$work/runs.serial" || fail "simulate --runs: the number of processors shows"

folders 7
folders 8
! cmp -s "$work/sim-7-a/jobs.csv" "$work/sim-8-a/jobs.csv" || fail "simulate: seeds 7 and 8 give the same jobs"

echo "determinism: same seed, same bytes; another seed, others"
