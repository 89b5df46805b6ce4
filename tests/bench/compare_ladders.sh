#!/usr/bin/env bash
# Is our ladder as fast as the one that lies beside the test data, on that harness's own stream and
# records? Builds that one in a scratch folder and runs both in turn.
#
#   compare_ladders.sh BENCH_LADDER_ENGINE [WB_TEST_DATA] [ROUNDS]
#
# Prints both medians and the median of the ratios round by round; exit status 1 if it is above 1.05,
# 77 if the yardstick is not here.
set -euo pipefail
ours=$(realpath "$1")
data=${2:-${WB_TEST_DATA:-$(dirname "$0")/../../../shared}}
rounds=${3:-15}
[ -f "$data/bench/build.sh" ] || { echo "compare_ladders: no yardstick in $data/bench" >&2; exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
sh "$data/bench/build.sh" "$out" >"$out/log" 2>&1
(cd "$out" && ./gen -o data/base >>log && ./gen -o data/deep -d 530 -w 40 >>log)

# one timed pass of a program: ns per record; the harness checks trades, quotes and levels
once() {
  "$1" "$2" 1 >"$out/line"
  ! grep -q MISMATCH "$out/line" || { echo "compare_ladders: $1: wrong results" >&2; exit 1; }
  sed -n 's/.*cpu med *\([0-9.]*\).*/\1/p' "$out/line"
}

status=0
for stream in base deep; do
  for ((round = 0; round < rounds; round++)); do
    theirs_ns=$(once "$out/bin_ladder" "$out/data/$stream")
    ours_ns=$(once "$ours" "$out/data/$stream")
    echo "$theirs_ns $ours_ns"
  done |
    awk -v name=$stream '
      { a[NR] = $1; b[NR] = $2; r[NR] = $2 / $1 }
      function median(x, n,   i, j, t) {
        for (i = 2; i <= n; i++)
          for (j = i; j > 1 && x[j] < x[j - 1]; j--) { t = x[j]; x[j] = x[j - 1]; x[j - 1] = t }
        return x[int((n + 1) / 2)]
      }
      END {
        ratio = median(r, NR)
        printf "%s: theirs %.2f ns, ours %.2f ns, ratio %.3f\n", name, median(a, NR), median(b, NR), ratio
        exit ratio > 1.05
      }' || status=1
done
exit $status
