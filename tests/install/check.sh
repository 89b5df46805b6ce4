#!/usr/bin/env bash
# usage: check.sh BUILD_DIR SCRATCH_DIR SOURCE_DIR C_COMPILER
set -euo pipefail
build=$1 scratch=$2 source=$3 cc=$4

rm -rf "$scratch"
mkdir -p "$scratch"
cmake --install "$build" --prefix "$scratch/prefix" >"$scratch/install.log" ||
  { cat "$scratch/install.log"; exit 1; }
pc=$(find "$scratch/prefix" -name warpbook.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
lib=$(pkg-config --variable=libdir warpbook)
doc=$(find "$scratch/prefix" -type d -path '*/doc/warpbook')
sample=$doc/data/sample/WARP_2024-01-02_34200000_57600000_message_5.csv

echo "every public header alone, as C11 and as C++"
read -ra flags < <(pkg-config --cflags warpbook)
count=0
while read -r header; do
  echo "#include <$header>" |
    "$cc" -std=gnu11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only "${flags[@]}" -x c -
  if command -v c++ >/dev/null; then
    case $header in
      warpbook/compiler/dsl.h) ;; # C11's _Generic
      *) echo "#include <$header>" | c++ -std=c++17 -Wall -Wextra -fsyntax-only "${flags[@]}" -x c++ - ;;
    esac
  fi
  count=$((count + 1))
done < <(cd "$scratch/prefix/include" && find warpbook -name '*.h' | sort)
echo "$count headers"
[ "$count" -ge 10 ]

echo "only names of its own in the library's interface"
exported=$(nm -D --defined-only "$lib/libwarpbook.so" | awk '{ print $3 }')
[ -n "$exported" ]
if grep -v '^wb_' <<<"$exported"; then exit 1; fi

echo "the pages and what they link to"
[ -e "$doc/LICENSE" ]
[ -e "$doc/docs/guide.md" ]
python3 "$source/tests/checks/links.py" "$doc"

echo "the examples by pkg-config"
read -ra libs < <(pkg-config --libs warpbook)
for example in "$doc"/examples/*.c; do
  "$cc" -std=gnu11 -Wall -Wextra -Werror "$example" -o "$scratch/$(basename "$example" .c)" \
    "${flags[@]}" "${libs[@]}" -lm
done
LD_LIBRARY_PATH=$lib "$scratch/replay_day" "$sample"

echo "the examples by find_package"
if ! cmake -S "$doc/examples" -B "$scratch/examples" -DCMAKE_C_COMPILER="$cc" \
  -DCMAKE_PREFIX_PATH="$scratch/prefix" >"$scratch/examples.log" 2>&1 ||
  ! cmake --build "$scratch/examples" >>"$scratch/examples.log" 2>&1; then
  cat "$scratch/examples.log"
  exit 1
fi
"$scratch/examples/replay_day" "$sample"
if [ -e "$build/libwarpbook-llvm.so" ]; then
  "$scratch/examples/random_policy" "$sample"
  "$scratch/examples/device_pointers" "$sample"
fi

echo "the installed command, from another folder"
cd /
"$scratch/prefix/bin/warpbook" --version
"$scratch/prefix/bin/warpbook" replay "$sample"
if [ -e "$build/libwarpbook-llvm.so" ]; then
  echo "compiled kernels of the installed copy"
  [ -e "$lib/libwarpbook-llvm.so" ]
  "$scratch/prefix/bin/warpbook" replay --engine kernel "$sample"
fi
