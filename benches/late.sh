#!/usr/bin/env bash
# What one bad node costs, where attempts ask all nodes and where they ask a majority first:
# benches/late.sh [rounds]
#
# Starts five redis-server processes on the last processor, and asks for locks at a steady rate from
# the first one. One of the five is left alone (`well`), is stopped by SIGSTOP or killed by SIGKILL
# after a second, or answers 5 ms late from the beginning, behind a proxy. Each state runs once a
# round with `--ask all` and once with `--ask majority`, in turn. Printed are the medians of the
# rounds, with the least and the most: the p50, p99 and greatest latency of an acquire in ms, the p99
# of a majority less that of all nodes in the same round, and how many locks of all rounds failed or
# were not done at the end. The shortest hedge is 1 ms. `SECONDS_EACH` says how long each takes
# (3), `RATE` how many locks a second (2000), and `BIN` names another redbolt to be measured.
set -euo pipefail
cd "$(dirname "$0")/.."
. benches/common/servers.sh

ROUNDS=${1:-5}
RATE=${RATE:-2000}
SECONDS_EACH=${SECONDS_EACH:-3}
FIRST_PORT=${FIRST_PORT:-7651}
STATES=(well stopped killed late)

# How long a server that was killed must be back before it votes, too (S11).
TTL=3s

# The node in the middle of the list: three of five locks have it among their first nodes.
BAD=2

main() {
    local state ask
    begin "$@"
    if [ -z "${BIN:-}" ]; then
        cargo build --locked --release --features cli
        BIN=${CARGO_TARGET_DIR:-target}/release/redbolt
    fi
    cargo bench --locked --bench contend --no-run
    driver=$(cargo bench --locked --bench contend --no-run 2>&1 |
        sed -nE 's/^ *Executable .*\((.*)\)$/\1/p')
    start_servers
    pin 0 $(($(nproc) - 1))
    start_proxy
    prepare --fresh
    for _ in $(seq "$ROUNDS"); do
        for state in "${STATES[@]}"; do
            for ask in all majority; do
                measure "$state" "$ask"
            done
        done
    done
    echo "five redis-server processes, $RATE locks a second, medians of $ROUNDS rounds"
    printf '%-20s %22s %22s %24s %7s\n' "" "p50, ms" "p99, ms" "greatest, ms" failed
    for state in "${STATES[@]}"; do
        for ask in all majority; do
            row "$state.$ask"
        done
        printf '%-20s %22s %22s\n' "  difference" "" "$(paste "$folder/$state.majority.p99" \
            "$folder/$state.all.p99" | awk '{ printf "%.2f\n", ($1 - $2) / 1000 }' | spread)"
    done
}

# The proxy ends with this script, which holds the other end of its standard input.
start_proxy() {
    mkfifo "$folder/open" "$folder/address"
    taskset --cpu-list "$(($(nproc) - 1))" "$driver" --bench proxy --nodes "${nodes[BAD]}" \
        --rtt 5ms <"$folder/open" >"$folder/address" &
    pids+=($!)
    exec 9>"$folder/open"
    read -r proxy <"$folder/address"
}

# prepare <options…>: returns when a quorum votes; the last node may be a moment later.
prepare() {
    "$BIN" init --nodes "$(IFS=,; echo "${nodes[*]}")" --max-ttl "$TTL" "$@" \
        >"$folder/init" 2>&1 || fail "init: $(cat "$folder/init")"
}

# measure <state> <ask>: one run. The server is as before behind the run.
measure() {
    local list=("${nodes[@]}") run json
    [ "$1" != late ] || list[BAD]=$proxy
    taskset --cpu-list "$client" "$BIN" bench --nodes "$(IFS=,; echo "${list[*]}")" \
        --ttl "$TTL" --max-ttl "$TTL" --rate "$RATE" --seconds "$SECONDS_EACH" --ask "$2" --json \
        >"$folder/json" 2>"$folder/errors" &
    run=$!
    case $1 in
        stopped) sleep 1 && kill -STOP "${pids[BAD]}" ;;
        killed) sleep 1 && kill -KILL "${pids[BAD]}" ;;
    esac
    wait "$run" || fail "$1, $2: $(cat "$folder/errors")"
    case $1 in
        stopped) kill -CONT "${pids[BAD]}" ;;
        killed) start_again ;;
    esac
    json=$(<"$folder/json")
    figure p50 "$json" >>"$folder/$1.$2.p50"
    figure p99 "$json" >>"$folder/$1.$2.p99"
    figure max "$json" >>"$folder/$1.$2.max"
    echo $(($(figure failed "$json") + $(figure unfinished "$json"))) >>"$folder/$1.$2.failed"
}

start_again() {
    local port=$((FIRST_PORT + BAD))
    # Bash would tell that it was killed.
    { wait "${pids[BAD]}"; } 2>/dev/null || true
    taskset --cpu-list "$(($(nproc) - 1))" redis-server --port "$port" --bind 127.0.0.1 --save "" \
        --appendonly no --dir "$folder/$port" >"$folder/$port/log" &
    pids[BAD]=$!
    until (: </dev/tcp/127.0.0.1/"$port") 2>/dev/null; do
        kill -0 "${pids[BAD]}" 2>/dev/null || fail_to_start "$port"
    done
    prepare
    sleep $((2 * ${TTL%s}))
}

# figure <key> <json>: the first one of the name, which is that of an acquire.
figure() {
    local value
    value=$(grep -oE "\"$1\":[0-9.]+" <<<"$2" | head -n 1)
    [ -n "$value" ] || fail "no $1 in $2"
    echo "${value#*:}"
}

row() {
    printf '%-20s %22s %22s %24s %7s\n' "${1/./, }" "$(show "$1.p50")" "$(show "$1.p99")" \
        "$(show "$1.max")" "$(awk '{ sum += $1 } END { print sum }' "$folder/$1.failed")"
}

show() {
    awk '{ printf "%.2f\n", $1 / 1000 }' "$folder/$1" | spread
}

# The median, the least and the most.
spread() {
    sort -n |
        awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] " (" all[1] " - " all[NR] ")" }'
}

main "$@"
