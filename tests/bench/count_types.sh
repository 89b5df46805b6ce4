#!/usr/bin/env bash
# Instructions per record of each kind, counted by callgrind, for the kernel that can do everything and
# for one of a checked tape without agents. Valgrind knows no AVX-512, so both are made for a
# processor that has AVX2.
#
#   count_types.sh PROGRAM [CPU]        PROGRAM: the built count_types; CPU: x86-64-v3
set -euo pipefail
program=$1
export WB_CPU=${2:-x86-64-v3}
command -v valgrind >/dev/null || { echo "count_types: no valgrind here" >&2; exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

for role in everything checked; do
  valgrind --tool=callgrind --callgrind-out-file="$out/$role" --toggle-collect='counted_*' \
    "$program" $role >"$out/$role.kinds" 2>"$out/log"
  callgrind_annotate --inclusive=yes --threshold=100 "$out/$role" |
    sed -n 's/^ *\([0-9,]*\).*:counted_\([0-9]*\).*/\2 \1/p' | tr -d , |
    sort -n >"$out/$role.counts"
done

# what a launch costs by itself, kind 0, is left out of the others
printf '%-32s %12s %12s\n' "instructions per record" everything "checked tape"
awk -v dir="$out" '
  function read_counts(role,   line, part) {
    while ((getline line < (dir "/" role ".counts")) > 0) {
      split(line, part, " ")
      count[role, part[1]] = part[2]
    }
  }
  function each(role, kind, records, launches) {
    if (records == 0) return count[role, kind] / launches
    return (count[role, kind] - count[role, 0]) / records
  }
  BEGIN { read_counts("everything"); read_counts("checked") }
  {
    name = $4
    for (i = 5; i <= NF; i++) name = name " " $i
    printf "%-32s %12.1f %12.1f\n", name, each("everything", $1, $2, $3), each("checked", $1, $2, $3)
  }' "$out/everything.kinds"
