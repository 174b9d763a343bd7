#!/usr/bin/env bash
# What a client costs over the engine alone: benches/client.sh [rounds]
#
# Starts five redis-server processes on the last processor, runs everything once a round in turn on
# the first one, and prints the medians of the rounds and of what each round compares. What is "free"
# is pinned to nothing, servers neither. The last run keeps 100,000 locks alive for a minute.
# `SECONDS_EACH` says how long each of the others takes (2).
# What contention costs is the business of benches/contend.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
. benches/common/servers.sh

ROUNDS=${1:-5}
SECONDS_EACH=${SECONDS_EACH:-2}
FIRST_PORT=${FIRST_PORT:-7401}

main() {
    begin "$@"
    cargo build --locked --release --features cli
    cargo bench --locked --bench wake --no-run
    start_servers
    echo "five redis-server processes, $(nproc) processors, medians of $ROUNDS rounds (and all)"
    for _ in $(seq "$ROUNDS"); do
        pin 0 $(($(nproc) - 1))
        measure pinned
        pin "0-$(($(nproc) - 1))" "0-$(($(nproc) - 1))"
        measure free
    done
    report pinned
    report free
    SECONDS_EACH=60 bench --client --keep-alive 100000 --ttl 10s | grep -E '^(held|extended|lost|client CPU)'
}

# measure <how it is pinned>: one round.
measure() {
    taskset --cpu-list "$client" cargo bench --quiet --locked --bench wake |
        cut -d' ' -f1 >>"$folder/$1.wake"
    run "$1.engine_1" p50 --in-flight 1
    run "$1.client_1" p50 --client --threads 1 --confirm
    run "$1.client_busy" p50 --client --threads 1 --confirm --busy-poll 50us
    run "$1.engine_64" cycles_per_s --in-flight 64
    run "$1.engine_512" cycles_per_s
    run "$1.threads_64" cycles_per_s --client --threads 64
    run "$1.threads_256" cycles_per_s --client --threads 256
    run "$1.tasks_10000" cycles_per_s --client --tasks 10000
}

# report <how it is pinned>
report() {
    printf '\n%s\n' "$1"
    row "two threads that wake each other, there and back, µs" "$1.wake"
    row "acquire p50, engine, one in flight, µs" "$1.engine_1"
    row "acquire p50, one thread through a client, µs" "$1.client_1"
    compare "  the client costs, µs" - "$1.client_1" "$1.engine_1"
    row "acquire p50, the same with busy_poll of 50 µs" "$1.client_busy"
    compare "  of the one without" / "$1.client_busy" "$1.client_1"
    row "cycles/s, engine, 64 in flight" "$1.engine_64"
    row "cycles/s, engine, 512 in flight" "$1.engine_512"
    row "cycles/s, 64 threads through a client" "$1.threads_64"
    compare "  of the engine, 64 in flight" / "$1.threads_64" "$1.engine_64"
    compare "  of the engine, 512 in flight" / "$1.threads_64" "$1.engine_512"
    row "cycles/s, 256 threads through a client" "$1.threads_256"
    row "cycles/s, 10,000 tasks through a client" "$1.tasks_10000"
    compare "  of the engine, 512 in flight" / "$1.tasks_10000" "$1.engine_512"
}

bench() {
    taskset --cpu-list "$client" target/release/redbolt bench --nodes "$(IFS=,; echo "${nodes[*]}")" \
        --restart-guard off --seconds "$SECONDS_EACH" "$@"
}

# run <name> <figure> <arguments…>: notes the figure of one run.
run() {
    local name=$1 figure=$2 json key value
    shift 2
    json=$(bench --json "$@")
    case $figure in
        p50) key='"acquire_us":\{"p50"' ;;
        *) key="\"$figure\"" ;;
    esac
    value=$(sed -nE "s/.*$key:([0-9.]+).*/\1/p" <<<"$json")
    [ -n "$value" ] || fail "no $figure in $json"
    echo "$value" >>"$folder/$name"
}

row() {
    local median
    median=$(sort -n "$folder/$2" | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }')
    printf '%-54s %10s   (%s)\n' "$1" "$median" "$(sort -n "$folder/$2" | paste -sd' ')"
}

# compare <label> <- or /> <name> <name>: what each round says, and the median of that.
compare() {
    paste "$folder/$3" "$folder/$4" |
        awk -v operator="$2" '{ printf "%.2f\n", operator == "-" ? $1 - $2 : $1 / $2 }' \
            >"$folder/compared"
    row "$1" compared
}

main "$@"
