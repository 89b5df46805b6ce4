#!/usr/bin/env bash
# The commands of README.md as they stand there: each succeeds, and none writes into the checkout.
# usage: walk.sh SOURCE_DIR BUILD_DIR SCRATCH_DIR
set -euo pipefail
source=$1 build=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch/checkout/build"
ln -s "$source/data" "$scratch/checkout/data"
ln -s "$build" "$scratch/checkout/build/release"
# the block that puts the program on the path
awk '/^```sh$/ { block = ""; inside = 1; next }
     /^```$/ { if (inside && block ~ /build\/release:\$PATH/) { printf "%s", block; exit } inside = 0 }
     inside { block = block $0 "\n" }' "$source/README.md" >"$scratch/commands"
[ "$(grep -c '^warpbook ' "$scratch/commands")" -ge 10 ]
cd "$scratch/checkout"
bash -eux "$scratch/commands" >"$scratch/output" 2>&1 || { tail -20 "$scratch/output"; exit 1; }
left=$(find . -mindepth 1 -maxdepth 1 ! -name build ! -name data)
if [ -n "$left" ]; then
  echo "written into the checkout: $left"
  exit 1
fi
echo "$(grep -c '^warpbook ' "$scratch/commands") commands"
