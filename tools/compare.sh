#!/usr/bin/env bash
# Compares what this tree computes with what an earlier commit computed, byte by
# byte, over a fixed set of commands and seeds:
#
#	tools/compare.sh REV [-k]
#
# A change that is to leave behaviour as it is must print "same bytes". With -k
# the outputs stay, in the folder that is printed, for diff. TRACES may be set
# to a folder of traces; the commands that read one are left out without it.
set -euo pipefail
cd "$(dirname "$0")/.."

rev=${1:?usage: tools/compare.sh REV [-k]}
keep=${2:-}
work=$(mktemp -d)
finish() {
  git worktree remove --force "$work/tree" 2>/dev/null || true
  [ -n "$keep" ] || rm -rf "$work"
}
trap finish EXIT

git worktree add --quiet --detach "$work/tree" "$rev"
(cd "$work/tree" && go build -o "$work/before.bin" ./cmd/bourse)
go build -o "$work/after.bin" ./cmd/bourse

cp configs/presets/default.toml docs/examples/algorithms.toml "$work/"

# write NAME WORDS...: the command's stdout, stderr and exit code into a file.
write() {
  local name=$1 code=0
  shift
  "$bin" "$@" >"$out/$name" 2>"$out/$name.err" || code=$?
  echo "exit $code" >>"$out/$name.err"
}

# all: the commands, run by $bin, their outputs below $out.
all() {
  local preset seed study policy trace
  for preset in default unequal sla; do
    for seed in 1 7; do
      write "simulate-$preset-$seed" simulate --preset "$preset" --seed "$seed" --check --out "$out/sim-$preset-$seed"
      sed -i "s|$out|OUT|g" "$out/simulate-$preset-$seed"
      sed -i '/^  "version":/d' "$out/sim-$preset-$seed/run.json" 2>/dev/null || true
    done
    write "means-$preset" simulate --preset "$preset" --runs 3 --json
  done
  for study in adaptive-pricing slot-search sla-reservations admission load-balancing; do
    write "study-$study" study "$study" --quick --json
  done
  write generate generate --model lublin --jobs 3000 --procs 128 --seed 5
  for policy in fcfs easy conservative reserve=3; do
    write "replay-$policy" replay "$out/generate" --procs 128 --policy "$policy" --json
  done
  write replay-priced replay "$out/generate" --procs 128 --policy easy --reservations 0.1 --alpha 0.5 --seed 2 --json
  write torture torture --seeds 60 --json
  write torture-far torture --seeds 20 --start 900000 --json
  write check check "$work/default.toml"
  [ -z "${TRACES:-}" ] || write three simulate --preset three-traces --traces "$TRACES" --json
  [ -z "${TRACES:-}" ] || write pricing study adaptive-pricing --quick --json --trace "$TRACES/SDSC-SP2-1998-4.2-cln.swf.gz"
}

for side in before after; do
  bin=$work/$side.bin out=$work/$side
  mkdir "$out"
  all
done
# A file's own path is where it is; all else must be equal.
grep -rlF "$work" "$work/before" "$work/after" | xargs -r sed -i "s|$work/before|OUT|g; s|$work/after|OUT|g"
if diff -rq "$work/before" "$work/after" >"$work/differs"; then
  echo "compare: same bytes in $(find "$work/after" -type f | wc -l) files"
else
  sed "s|$work/||g" "$work/differs"
  [ -z "$keep" ] || echo "compare: outputs are in $work"
  exit 1
fi
