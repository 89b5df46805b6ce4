#!/usr/bin/env bash
# The script that starts bench_gpu on another machine, with stand-ins for the program, the C library's
# loader and compute-sanitizer, in a folder with a blank in its name.
set -u
run=$(cd "$(dirname "$0")" && pwd)/run
root=$(mktemp -d)
trap 'chmod -R u+w "$root"; rm -rf "$root"' EXIT
folder="$root/a folder"
mkdir -p "$folder/glibc" "$folder/lib" "$root/tools"
cp "$run" "$folder/run"
failures=0

# bench_gpu: does what $ON_HELP, $ON_PROBE and $ON_RUN say; writes down how it was called
cat > "$folder/bench_gpu" <<'PROGRAM'
#!/bin/sh
case $1 in
  --help) exit "${ON_HELP:-0}" ;;
  --probe) [ -z "$RUNTIME" ] || [ "$WB_CUDART" = "$RUNTIME" ] || exit 3; exit "${ON_PROBE:-0}" ;;
esac
{ echo "kernels=$WB_KERNELS llvm=$WB_LLVM_MODULE cudart=$WB_CUDART"; printf '<%s>' "$@"; echo; } >> "$CALLS"
echo "the table"
exit "${ON_RUN:-0}"
PROGRAM
chmod +x "$folder/bench_gpu"
cat > "$folder/glibc/ld-linux-x86-64.so.2" <<'LOADER'
#!/bin/sh
echo "loader $1 $2" >> "$CALLS"
shift 2
ON_HELP=${LOADER_HELP:-0}
export ON_HELP
exec "$@"
LOADER
cat > "$root/tools/compute-sanitizer" <<'SANITIZER'
#!/bin/sh
echo "sanitizer $1 $2 $3 $4" >> "$CALLS"
shift 4
"$@" || exit $?
exit "${ON_RACE:-0}"
SANITIZER
chmod +x "$root/tools/compute-sanitizer"
: > "$folder/lib/libcudart.so.13"

# expect WHAT STATUS WORDS VARIABLES.. -- ARGUMENTS..: the words are in the output or the calls
expect() {
  local what=$1 status=$2 words=$3 got output
  shift 3
  local variables=()
  while [ "$1" != -- ]; do variables+=("$1"); shift; done
  shift
  export CALLS="$root/calls"
  : > "$CALLS"
  output=$(env -u WB_CUDART -u LD_LIBRARY_PATH PATH="$root/tools:$PATH" "${variables[@]}" sh "$folder/run" "$@" 2>&1)
  got=$?
  output=$output$'\n'$(cat "$CALLS")
  if [ "$got" != "$status" ] || ! grep -qF -- "$words" <<< "$output"; then
    echo "$what: status $got instead of $status, or no \"$words\" in:" >&2
    echo "$output" >&2
    failures=$((failures + 1))
  fi
}

expect "all equal" 0 "<--day><$folder/day><--prediction><$folder/prediction><--json>" A=1 --
expect "the bundle, and no LLVM" 0 "kernels=$folder/kernels llvm=/nonexistent" A=1 --
expect "arguments go on" 0 "<--books><1,2>" A=1 -- --books 1,2
expect "the table is kept" 0 "kept in $folder/result-" A=1 --
for file in "$folder"/result-*.txt; do
  if ! grep -q "the table" "$file"; then echo "nothing in $file" >&2; failures=$((failures + 1)); fi
done
expect "a difference" 1 "the table" ON_RUN=1 --
expect "what could not be done" 2 "the table" ON_RUN=2 --
expect "a crash" 2 "ended with status 139" ON_RUN=139 --
expect "no GPU" 3 "" ON_PROBE=3 --
expect "our own runtime, at last" 0 "cudart=$folder/lib/libcudart.so.13" RUNTIME="$folder/lib/libcudart.so.13" --
expect "a runtime that was chosen" 3 "" RUNTIME="$folder/lib/libcudart.so.13" WB_CUDART=/other.so --
expect "an older C library" 0 "loader --library-path $folder/glibc:$folder/lib" ON_HELP=1 --
expect "one that cannot be helped" 2 "" ON_HELP=1 LOADER_HELP=1 --
expect "racecheck" 0 "sanitizer --tool racecheck --error-exitcode 9" A=1 -- --racecheck
expect "racecheck, a small run" 0 "<--random><2><--random-records><64>" A=1 -- --racecheck
expect "racecheck with our C library" 0 "loader --library-path" ON_HELP=1 -- --racecheck
expect "hazards" 1 "racecheck has found hazards" ON_RACE=9 -- --racecheck
expect "racecheck that does not work" 2 "racecheck does not work here (status 255)" ON_RACE=255 -- --racecheck
expect "a small run that differs by itself" 1 "" ON_RUN=1 -- --racecheck
rm "$root/tools/compute-sanitizer"
if ! command -v compute-sanitizer >/dev/null && ! ls /usr/local/cuda*/bin/compute-sanitizer >/dev/null 2>&1; then
  expect "no racecheck" 2 "there is no compute-sanitizer here" A=1 -- --racecheck
fi
# as it arrives from some file systems
chmod -x "$folder/bench_gpu" "$folder/glibc/ld-linux-x86-64.so.2"
expect "a program that may not be executed" 0 "<--day>" A=1 --
if [ "$(id -u)" != 0 ]; then
  chmod a-w "$folder"
  expect "a folder that cannot be written to" 0 "kept in $root/result-" TMPDIR="$root" --
fi
exit $((failures > 0))
