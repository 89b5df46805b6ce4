#!/usr/bin/env bash
# Builds the fuzz preset in build/fuzz and runs every fuzzer of tests/fuzz for WB_FUZZ_SECONDS
# (default 10), as many at a time as there are cores. A fuzzer starts from tests/fuzz/corpus/NAME.
# What breaks one is left beside it and named. Exit status 77: no clang with libFuzzer here.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${WB_FUZZ_SECONDS:-10}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/probe.c" <<'C'
#include <stddef.h>
int LLVMFuzzerTestOneInput(const char *data, size_t size);
int LLVMFuzzerTestOneInput(const char *data, size_t size) { return size > 0 && !data; }
C
compiler=
for candidate in clang-14 clang clang-{19,18,17,16,15}; do
  if command -v "$candidate" >/dev/null &&
    "$candidate" -fsanitize=fuzzer,address "$scratch/probe.c" -o "$scratch/probe" 2>/dev/null; then
    compiler=$candidate
    break
  fi
done
if [ -z "$compiler" ]; then
  echo "fuzzers: no clang with libFuzzer is here: skipped" >&2
  exit 77
fi

cmake --preset fuzz -DCMAKE_C_COMPILER="$compiler"
cmake --build --preset fuzz --target fuzzers

run_one() {
  local fuzzer=$1 name corpus work
  name=$(basename "$fuzzer")
  work=$(dirname "$fuzzer")/$name.work
  corpus=tests/fuzz/corpus/$name
  mkdir -p "$work/found"
  [ -d "$corpus" ] || corpus=
  if "$fuzzer" -max_total_time="$2" -timeout=20 -rss_limit_mb=3072 -print_final_stats=1 \
    -artifact_prefix="$work/" "$work/found" ${corpus:+"$corpus"} >"$work/log" 2>&1; then
    echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$work/log") runs, nothing found"
  else
    echo "$name: FAILED; inputs are in $work"
    tail -n 60 "$work/log"
    return 1
  fi
}
export -f run_one

mapfile -d '' fuzzers < <(find build/fuzz/tests/fuzz -maxdepth 1 -name 'fuzz_*' -type f -perm -u+x -print0)
if [ ${#fuzzers[@]} -eq 0 ]; then
  echo "fuzzers: none was built" >&2
  exit 1
fi
# shellcheck disable=SC2016  # expanded by the inner shell
printf '%s\0' "${fuzzers[@]}" | xargs -0 -P "$(nproc)" -I{} bash -c 'run_one "$1" "$2"' run {} "$seconds"
