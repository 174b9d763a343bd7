#!/usr/bin/env bash
# What several engines in one process cost and bring: benches/engines.sh [rounds]
#
# Starts five redis-server processes on the last processor, runs everything once a round in turn,
# and prints the medians of the rounds: cycles a second, and the processor time of a cycle in the
# client and in the five servers together. Behind each figure is the median of its ratios to that of
# one engine in the same round, with the least and the most. The client is pinned to the first
# processor, where more engines can only cost; what is "free" is pinned to nothing, servers neither.
# `SECONDS_EACH` says how long each takes (2), and `BIN` names another redbolt to be measured.
set -euo pipefail
cd "$(dirname "$0")/.."
. benches/common/servers.sh

ROUNDS=${1:-5}
SECONDS_EACH=${SECONDS_EACH:-2}
FIRST_PORT=${FIRST_PORT:-7501}

main() {
    begin "$@"
    if [ -z "${BIN:-}" ]; then
        cargo build --locked --release --features cli
        BIN=${CARGO_TARGET_DIR:-target}/release/redbolt
    fi
    start_servers
    echo "five redis-server processes, $(nproc) processors, medians of $ROUNDS rounds"
    printf '%-50s %28s %28s %28s\n' "" "cycles/s" "client us/cycle" "servers us/cycle"
    for _ in $(seq "$ROUNDS"); do
        pin 0 $(($(nproc) - 1))
        measure pinned 1 2 4
        pin "0-$(($(nproc) - 1))" "0-$(($(nproc) - 1))"
        measure free 1 2
    done
    report pinned 1 2 4
    report free 1 2
}

# measure <how it is pinned> <numbers of engines…>: one round.
measure() {
    local how=$1 engines
    shift
    for engines in "$@"; do
        run "$how.all.$engines" --engines "$engines" --in-flight 512
        run "$how.each.$engines" --engines "$engines" --in-flight $((512 * engines))
        run "$how.tasks.$engines" --engines "$engines" --client --tasks 1000
    done
}

# report <how it is pinned> <numbers of engines…>
report() {
    local how=$1 engines
    shift
    for engines in "$@"; do
        row "$how, $engines engines, 512 locks in flight in all" "$how.all.$engines"
    done
    for engines in "$@"; do
        row "$how, $engines engines, 512 locks in flight each" "$how.each.$engines"
    done
    for engines in "$@"; do
        row "$how, a client of $engines engines, 1,000 tasks" "$how.tasks.$engines"
    done
}

# The processor time of all servers so far, in µs, the kernel's part included.
servers_time() {
    local pid
    for pid in "${pids[@]}"; do
        awk '{ print $1 / 1000 }' "/proc/$pid/schedstat"
    done | awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}

# run <name> <arguments…>: notes the figures of one run. The time of the servers is that of the
# whole run, warm-up included: the cycles of the warm-up are estimated by those that were counted.
run() {
    local name=$1 json before after
    shift
    before=$(servers_time)
    json=$(taskset --cpu-list "$client" "$BIN" bench --nodes "$(IFS=,; echo "${nodes[*]}")" \
        --restart-guard off --seconds "$SECONDS_EACH" --json "$@")
    after=$(servers_time)
    figure cycles_per_s "$json" >>"$folder/$name.rate"
    figure client_cpu_us_per_cycle "$json" >>"$folder/$name.client"
    awk -v us=$((after - before)) -v cycles="$(figure cycles "$json")" \
        -v ran="$(figure ran_ms "$json")" \
        'BEGIN { printf "%.2f\n", us / (cycles * (ran + 200) / ran) }' >>"$folder/$name.servers"
}

# figure <key> <json>
figure() {
    local value
    value=$(sed -nE "s/.*\"$1\":([0-9.]+).*/\1/p" <<<"$2")
    [ -n "$value" ] || fail "no $1 in $2"
    echo "$value"
}

# row <label> <name>
row() {
    printf '%-50s %28s %28s %28s\n' "$1" "$(show "$2" rate)" "$(show "$2" client)" \
        "$(show "$2" servers)"
}

# show <name> <figure>: the median, and how it compares with one engine.
show() {
    local one=${1%.*}.1
    printf '%s x%s' "$(median <"$folder/$1.$2")" \
        "$(paste "$folder/$1.$2" "$folder/$one.$2" | awk '{ printf "%.2f\n", $1 / $2 }' | spread)"
}

median() {
    sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}

# The median, the least and the most.
spread() {
    sort -n |
        awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] " (" all[1] "-" all[NR] ")" }'
}

main "$@"
