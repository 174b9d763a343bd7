#!/usr/bin/env bash
# Runs fuzz targets and says what they did, a line for each:
#
#   fuzz/run.sh [seconds each, 60 if not given] [target…, all if none is given]
#
# It begins with the committed corpus and puts what it learns into fuzz/found, so that a run changes
# nothing that is committed. cargo-fuzz is installed below fuzz/target where it is missing. A stable
# compiler does, because RUSTC_BOOTSTRAP=1 lets it use what the fuzzer needs.
set -euo pipefail
cd "$(dirname "$0")"

seconds=${1:-60}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(parse split roundtrip differential core)

export RUSTC_BOOTSTRAP=1
export PATH=$PWD/target/tools/bin:$PATH
command -v cargo-fuzz >/dev/null || cargo install --locked --root target/tools cargo-fuzz
cargo fuzz build

status=0
for target in "${targets[@]}"; do
    mkdir -p "found/$target" target/logs
    log=target/logs/$target.log
    # A script for the core of a few hundred bytes plays some dozens of steps, and longer ones teach
    # the fuzzer nothing but patience.
    longest=4096
    [ "$target" != core ] || longest=512
    if ! cargo fuzz run "$target" "found/$target" "corpus/$target" -- \
        -max_total_time="$seconds" -max_len="$longest" -timeout=10 -print_final_stats=1 >"$log" 2>&1; then
        status=1
        tail -n 40 "$log"
    fi
    awk -v target="$target" -v seconds="$seconds" '
        /stat::number_of_executed_units/ { executions = $2 }
        /Test unit written to/ { found = found " " $NF }
        END {
            printf "fuzz %s: %s s, %s executions, findings:%s\n",
                target, seconds, executions, found == "" ? " none" : found
        }' "$log"
done
exit "$status"
