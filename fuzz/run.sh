#!/usr/bin/env bash
# Runs fuzz targets and says what they did, a line for each:
#
#   fuzz/run.sh [seconds each, 60 if not given] [target…, all if none is given]
#
# The targets are the files of fuzz_targets/; src/ says what each checks. A finding is written below
# fuzz/artifacts. Once it is mended it gets a test of its own, and its file goes to the corpus, which
# tests/corpus.rs replays.
#
# It begins with the committed corpus and puts what it learns into fuzz/found, so that a run changes
# nothing that is committed.
#
# cargo-fuzz is installed below fuzz/target in the version that cargo-fuzz.sh names, unless that one
# is there. A stable compiler does, because RUSTC_BOOTSTRAP=1 lets it use what the fuzzer needs.
set -euo pipefail
cd "$(dirname "$0")"

. ./cargo-fuzz.sh

case ${1:-60} in
    -h | --help)
        sed -nE '2,/^set/s/^# ?//p' run.sh
        exit
        ;;
    0* | *[!0-9]*)
        echo "$1 seconds: a whole number above 0 is possible" >&2
        exit 1
        ;;
esac
seconds=${1:-60}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(all_targets)

install_cargo_fuzz
cargo fuzz build

status=0
for target in "${targets[@]}"; do
    mkdir -p "found/$target" target/logs
    log=target/logs/$target.log
    if ! cargo fuzz run "$target" "found/$target" "corpus/$target" -- \
        -max_total_time="$seconds" -print_final_stats=1 $(options "$target") >"$log" 2>&1; then
        status=1
        tail -n 40 "$log"
    fi
    files=$(find "found/$target" "corpus/$target" -type f | wc -l)
    awk -v target="$target" -v seconds="$seconds" -v files="$files" '
        /stat::number_of_executed_units/ { executions = $2 }
        /stat::average_exec_per_sec/ { speed = $2 }
        /Test unit written to/ { found = found " " $NF }
        END {
            printf "fuzz %s: %s s, %s executions (%s/s), %s files, findings:%s\n",
                target, seconds, executions, speed, files, found == "" ? " none" : found
        }' "$log"
done
exit "$status"
