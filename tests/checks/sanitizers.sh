#!/usr/bin/env bash
# Builds the debug preset (address and undefined-behaviour sanitizers) in build/debug and runs its
# tests, those labelled "slow" apart: they run for minutes even in a release build.
set -euo pipefail
cd "$(dirname "$0")/../.."

cmake --preset debug -DWB_TEST_DATA="${WB_TEST_DATA:-$PWD/../shared}"
cmake --build --preset debug
# an allocation that is too large fails, as it does outside: tests ask for that
ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:check_initialization_order=1
export ASAN_OPTIONS=$ASAN_OPTIONS:allocator_may_return_null=1
# the leak check of gcc 12 falls over its own reading of other threads' local storage
export LSAN_OPTIONS=use_tls=0:print_suppressions=0:suppressions=$PWD/tests/checks/leaks.supp
export UBSAN_OPTIONS=print_stacktrace=1
ctest --test-dir build/debug --output-on-failure --label-exclude slow -j "$(nproc)"
