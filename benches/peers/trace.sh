#!/usr/bin/env bash
# Runs two-phase transactions with redbolt and with a Redlock by hand on redis-rs, on the same
# traces and the same servers: starts five Redis servers on one core, runs every contestant on
# another, one after the other in several rounds, and prints the best round and medians.
#
#   benches/peers/trace.sh [--name NAME] [--rounds N] [--seconds S] [--in-flight N]
#       [--traces TRACE,…]
#
# A trace is one that `redbolt bench --trace` knows. Both read the same file, which has a million
# transactions of uniform and Zipf, and 200,000 of the others. Raw figures and the facts of the
# machine go to benches/record/<date>-NAME.csv and .txt. CLIENT_CPU and SERVER_CPU choose the cores,
# 0 and 1 by default.
set -euo pipefail
cd "$(dirname "$0")/../.."
. benches/common/servers.sh

FIRST_PORT=${FIRST_PORT:-7651}
client_cpu=${CLIENT_CPU:-0}
server_cpu=${SERVER_CPU:-1}
command="benches/peers/trace.sh${*:+ $*}"
peers=benches/peers/target/release/redbolt-peers
redbolt=${CARGO_TARGET_DIR:-target}/release/redbolt

name=trace
rounds=5
seconds=2
in_flight=128
traces=uniform,zipf:1000000:0.9
failed=0
contestants=(redbolt redis-rs redis-rs-tuned)
columns=trace,locks,contestant,round,transactions_per_s,locks_per_s,aborted
columns+=,cpu_us_per_transaction,p50_us,p99_us,p999_us

main() {
    parse "$@"
    for tool in cargo redis-server redis-cli taskset lscpu; do
        command -v "$tool" >/dev/null || fail "$tool is needed"
    done
    [ "$(nproc)" -ge 2 ] || fail "two cores are needed: one for the client, one for the servers"
    cargo build --release --locked --quiet --features cli --bin redbolt
    CARGO_TARGET_DIR=benches/peers/target \
        cargo build --release --locked --quiet --manifest-path benches/peers/Cargo.toml
    start_servers
    pin "$client_cpu" "$server_cpu"
    list=$(IFS=, && echo "${nodes[*]}")
    "$redbolt" init --nodes "$list" --fresh >/dev/null
    csv=benches/record/$(date -u +%F)-$name.csv
    echo "$columns" >"$csv"
    facts >"${csv%.csv}.txt"
    for trace in ${traces//,/ }; do
        "$redbolt" bench --trace "$trace" --print "$(length "$trace")" >"$folder/trace"
        measure_trace
    done
    echo "load average at the end: $(cut -d ' ' -f 1-3 /proc/loadavg)" >>"${csv%.csv}.txt"
    table
    [ "$failed" -eq 0 ] || fail "$failed runs failed; the table does not have them"
}

parse() {
    while [ $# -gt 0 ]; do
        case $1 in
            --name) name=${2:?} ;;
            --rounds) rounds=${2:?} ;;
            --seconds) seconds=${2:?} ;;
            --in-flight) in_flight=${2:?} ;;
            --traces) traces=${2:?} ;;
            -h | --help)
                sed -nE '2,/^set/s/^# ?//p' benches/peers/trace.sh
                exit
                ;;
            *) fail "unknown option $1; --help says which there are" ;;
        esac
        shift 2
    done
}

# Long names would make a file of gigabytes.
length() {
    case $1 in
        uniform* | zipf*) echo 1000000 ;;
        *) echo 200000 ;;
    esac
}

# All contestants with all ways of asking, in every round from another contestant on.
measure_trace() {
    local round locks index who line
    for round in $(seq "$rounds"); do
        echo "$trace, round $round of $rounds" >&2
        for locks in set each; do
            for index in "${!contestants[@]}"; do
                who=${contestants[$(((index + round) % ${#contestants[@]}))]}
                if line=$(run); then row "$line"; else failed=$((failed + 1)); fi
            done
        done
    done
}

run() {
    local options=(--locks "$locks" --nodes "$list" --in-flight "$in_flight" --seconds "$seconds")
    if [ "$who" = redbolt ]; then
        REDBOLT_RESTART_GUARD=off taskset -c "$client" "$redbolt" bench \
            --trace "file:$folder/trace" --json "${options[@]}"
    else
        taskset -c "$client" "$peers" trace "$who" --trace "$folder/trace" "${options[@]}"
    fi
}

# row <line of JSON>
row() {
    local line=$1 keys key
    keys=(transactions_per_s locks_per_s aborted client_cpu_us_per_transaction p50 p99 p999)
    printf '%s,%s,%s,%s' "$trace" "$locks" "$who" "$round" >>"$csv"
    for key in "${keys[@]}"; do
        printf ',%s' "$(grep -oE "\"$key\":[0-9.]+" <<<"$line" | cut -d : -f 2)" >>"$csv"
    done
    echo >>"$csv"
}

# The best rate of all rounds, which is the one that was disturbed least, and medians.
table() {
    local trace locks who column
    echo "| trace | locks | contestant | transactions/s, best | median | aborted a round |" \
        "client CPU, µs | p50, µs | p99, µs |"
    echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for trace in ${traces//,/ }; do
        for locks in set each; do
            for who in "${contestants[@]}"; do
                printf '| %s | %s | %s | %s |' "$trace" "$locks" "$who" "$(sorted 5 | tail -n 1)"
                for column in 5 7 8 9 10; do
                    printf ' %s |' "$(median "$column")"
                done
                echo
            done
        done
    done
}

# median <column>: the middle one of the sorted figures; with an even number, the upper of the two.
median() {
    sorted "$1" | awk '{ all[NR] = $1 } END { print all[int(NR / 2) + 1] }'
}

# sorted <column>: the figures of all rounds, the least first.
sorted() {
    awk -F , -v trace="$trace" -v locks="$locks" -v who="$who" -v column="$1" \
        '$1 == trace && $2 == locks && $3 == who { print $column }' "$csv" | sort -g
}

# What somebody needs to know who reads the figures later.
facts() {
    echo "date: $(date -u +%FT%TZ)"
    echo "commit: $(git describe --always --dirty --abbrev=12 --exclude '*')"
    echo "command: $command"
    echo "processor: $(lscpu | sed -n 's/^Model name: *//p'), $(nproc) cores"
    echo "kernel: $(uname -srm)"
    echo "cores: client on $client_cpu, all servers on $server_cpu, niceness $(nice)"
    echo "server: $(redis-server --version | cut -d ' ' -f 1-3)"
    echo "compiler: $(rustc --version)"
    echo "in flight: $in_flight transactions of 4 locks in uniform and zipf, not held"
    echo "seconds: $seconds a run after 0.2 of warm-up, $rounds rounds"
    echo "patience: 1 s, after which a transaction is aborted"
    echo "load average at the start: $(cut -d ' ' -f 1-3 /proc/loadavg)"
}

main "$@"
