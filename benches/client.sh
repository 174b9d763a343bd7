#!/usr/bin/env bash
# What a client costs over the engine alone: benches/client.sh [rounds]
#
# Starts five redis-server processes, runs everything once a round in turn, and prints the medians of
# the rounds. The last two lines take a minute each.
set -euo pipefail
cd "$(dirname "$0")/.."

ROUNDS=${1:-5}
SECONDS_EACH=${SECONDS_EACH:-3}
FIRST_PORT=${FIRST_PORT:-7401}
PROCESSES=10

main() {
    cargo build --locked --release --features cli
    folder=$(mktemp -d)
    trap clean_up EXIT
    start_servers
    echo "five redis-server processes, $(nproc) processors, medians of $ROUNDS rounds"
    for _ in $(seq "$ROUNDS"); do
        run engine_1 p50 --in-flight 1
        run client_1 p50 --client --threads 1 --confirm
        run engine_64 cycles_per_s --in-flight 64
        run engine_512 cycles_per_s
        run threads_64 cycles_per_s --client --threads 64
        run threads_256 cycles_per_s --client --threads 256
        run tasks_10000 cycles_per_s --client --tasks 10000
        run line_of_100 hand_over --client --threads 100 --resources 1
    done
    row "acquire p50, engine, one in flight, µs" engine_1
    row "acquire p50, one thread through a client, µs" client_1
    row "cycles/s, engine, 64 in flight" engine_64
    row "cycles/s, engine, 512 in flight" engine_512
    row "cycles/s, 64 threads through a client" threads_64
    row "cycles/s, 256 threads through a client" threads_256
    row "cycles/s, 10,000 tasks through a client" tasks_10000
    row "hand-over p50, 100 threads for one resource, µs" line_of_100
    contend
    SECONDS_EACH=60 bench --client --hold 100000 --ttl 10s | grep -E '^(held|extended|lost|client CPU)'
}

start_servers() {
    nodes=()
    pids=()
    for port in $(seq "$FIRST_PORT" $((FIRST_PORT + 4))); do
        mkdir "$folder/$port"
        redis-server --port "$port" --bind 127.0.0.1 --save "" --appendonly no \
            --dir "$folder/$port" >"$folder/$port/log" &
        pids+=($!)
        nodes+=("127.0.0.1:$port")
    done
}

clean_up() {
    kill "${pids[@]}" 2>/dev/null || true
    wait
    rm -rf "$folder"
}

bench() {
    target/release/redbolt bench --nodes "$(IFS=,; echo "${nodes[*]}")" --restart-guard off \
        --seconds "$SECONDS_EACH" "$@"
}

# run <name> <figure> <arguments…>: notes the figure of one run.
run() {
    local name=$1 figure=$2 json
    shift 2
    json=$(bench --json "$@")
    case $figure in
        p50) sed -E 's/.*"acquire_us":\{"p50":([0-9.]+).*/\1/' <<<"$json" ;;
        hand_over) sed -E 's/.*"hand_over_us":\{"p50":([0-9.]+).*/\1/' <<<"$json" ;;
        *) sed -E "s/.*\"$figure\":([0-9.]+).*/\1/" <<<"$json" ;;
    esac >>"$folder/$name"
}

row() {
    local median
    median=$(sort -n "$folder/$2" | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }')
    printf '%-50s %12s   (%s)\n' "$1" "$median" "$(sort -n "$folder/$2" | paste -sd' ')"
}

# Ten processes with ten threads each want the same resource for a minute.
contend() {
    local number workers=()
    for number in $(seq $PROCESSES); do
        SECONDS_EACH=60 bench --json --client --threads 10 --resources 1 >"$folder/fair.$number" &
        workers+=($!)
    done
    wait "${workers[@]}"
    for number in $(seq $PROCESSES); do
        sed -E 's/.*"cycles":([0-9]+).*"fewest_by_one":([0-9]+).*"longest_wait_us":([0-9.]+).*/\1 \2 \3/' \
            "$folder/fair.$number"
    done | sort -n | awk '
        { sum += $1; all[NR] = $1; if (NR == 1 || $2 < least) least = $2; if ($3 > wait) wait = $3 }
        END {
            printf "%-50s %12d   (%d to %d by each, %d at least by one thread, longest wait %.1f s)\n",
                "locks in a minute, ten processes of ten threads", sum, all[1], all[NR], least, wait / 1e6
        }'
}

main
