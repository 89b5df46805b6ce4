#!/bin/sh
# usage: compare.sh GENERATOR SAMPLE_DIR SCRATCH_DIR: every csv file must come out byte for byte
set -eu
rm -rf "$3"
mkdir -p "$3"
"$1" "$3"
count=0
for file in "$3"/*.csv; do
  cmp "$file" "$2/${file##*/}"
  count=$((count + 1))
done
[ "$count" -eq "$(ls "$2"/*.csv | wc -l)" ] && [ "$count" -eq 2 ]
