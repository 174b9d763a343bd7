#!/usr/bin/env bash
# Measures redbolt beside its peers: starts five Redis servers on one core, runs every contestant on
# another, one after the other in many short rounds, and prints medians and ratios.
#
#   benches/peers/run.sh [--name NAME] [--rounds N] [--seconds S] [--closed-only | --tls | --fenced |
#       --majority]
#
# --tls measures redbolt and redis-rs with TLS and without, at the same servers, and nobody else.
# --fenced does the same for redbolt with fencing numbers and without. --majority does the same for
# redbolt that asks a majority of the nodes first, beside bare sockets and the other libraries; with
# one lock in flight also from rest, when no node owes anything, and with busy polling.
#
# Raw figures and the facts of the machine go to benches/record/<date>-NAME.csv and .txt.
# CLIENT_CPU and SERVER_CPU choose the cores, 0 and 1 by default. The redlock packages of Node and
# Python take part where node and python3 are there and their packages can be installed.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
record=$here/../record
peers=$here/target/release/redbolt-peers
command="benches/peers/run.sh${*:+ $*}"

name=local
rounds=7
seconds=0.4
closed_only=no
chosen=
tls=no
fenced=no
majority=no
client_cpu=${CLIENT_CPU:-0}
server_cpu=${SERVER_CPU:-1}

rust_peers=(raw-single raw-group raw-fresh redbolt redis-rs redis-rs-tuned rslock)
engines=(redbolt redbolt-majority redis-rs rslock)
fenced_peers=(redbolt redbolt-fenced)
majority_peers=(redbolt redbolt-majority raw-group raw-fresh raw-majority
    redis-rs redis-rs-tuned rslock)
# With one lock in flight, besides those.
alone_peers=(redbolt-rest redbolt-majority-rest redbolt-busy redbolt-majority-busy)
tls_peers=(redbolt redbolt-tls redis-rs redis-rs-tls redis-rs-tuned redis-rs-tuned-tls)
sweep=(8 64 128 256 1024)
rates=(1000 2000 4000 8000 16000 32000 64000)

servers=()
nodes=
tls_nodes=
folder=
failed=0

main() {
    parse "$@"
    for tool in cargo redis-server redis-cli taskset setpriv lscpu; do
        command -v "$tool" >/dev/null || die "$tool is needed"
    done
    [ "$(nproc)" -ge 2 ] || die "two cores are needed: one for the client, one for the servers"
    cargo build --release --locked --quiet --manifest-path "$here/Cargo.toml"
    node_folder=
    python_folder=
    if [ "$tls$fenced$majority" = nonono ]; then
        install_node
        install_python
    fi
    trap stop_servers EXIT
    trap 'exit 130' INT
    trap 'exit 143' HUP TERM
    start_servers
    csv=$record/$(date -u +%F)-$name.csv
    mkdir -p "$record"
    "$peers" header >"$csv"
    facts >"${csv%.csv}.txt"
    if [ "$tls" = yes ]; then
        few_loops "${tls_peers[@]}"
    elif [ "$fenced" = yes ]; then
        few_loops "${fenced_peers[@]}"
    elif [ "$majority" = yes ]; then
        few_loops "${majority_peers[@]}"
    else
        closed_loops
        [ "$closed_only" = yes ] || { sweep_in_flight && open_loops; }
    fi
    echo "load average at the end: $(load_average)" >>"${csv%.csv}.txt"
    "$peers" table "$csv"
    [ "$failed" -eq 0 ] || die "$failed runs failed; the tables do not have them"
}

parse() {
    while [ $# -gt 0 ]; do
        case $1 in
            --closed-only) closed_only=yes && choose "$1" && shift && continue ;;
            --tls) tls=yes && choose "$1" && shift && continue ;;
            --fenced) fenced=yes && choose "$1" && shift && continue ;;
            --majority) majority=yes && choose "$1" && shift && continue ;;
            -h | --help)
                sed -nE '2,/^set/s/^# ?//p' "$here/run.sh"
                exit
                ;;
            --name | --rounds | --seconds) [ $# -ge 2 ] || die "$1 wants a value" ;;
            *) die "unknown option $1; --help says which there are" ;;
        esac
        case $1 in
            --name) name=$2 ;;
            --rounds) rounds=$2 ;;
            --seconds) seconds=$2 ;;
        esac
        shift 2
    done
    [[ $name =~ ^[a-z0-9-]+$ ]] || die "--name is $name: small letters, digits and - are possible"
    [[ $rounds =~ ^[1-9][0-9]{0,2}$ ]] || die "--rounds is $rounds: 1 to 999 are possible"
    [[ $seconds =~ ^[0-9]+(\.[0-9]+)?$ && $seconds =~ [1-9] ]] ||
        die "--seconds is $seconds: a number above 0, such as 0.4, is possible"
}

# choose <option>: one that says what is measured, of which there is one.
choose() {
    [ -z "$chosen" ] || [ "$chosen" = "$1" ] || die "$chosen and $1 exclude each other"
    chosen=$1
}

install_node() {
    local folder=$here/target/node
    command -v npm >/dev/null || { say "no npm, so no node-redlock" && return; }
    mkdir -p "$folder"
    cp "$here/node/"* "$folder"
    if npm install --prefix "$folder" --silent --no-audit --no-fund --ignore-scripts >&2; then
        node_folder=$folder
    else
        say "npm could not install redlock and ioredis, so no node-redlock"
    fi
}

install_python() {
    local folder=$here/target/python
    command -v python3 >/dev/null || { say "no python3, so no redlock-py" && return; }
    if [ -e "$folder/redlock" ] || python3 -m pip install --quiet --target "$folder" \
        --disable-pip-version-check --requirement "$here/python/requirements.txt" >&2; then
        python_folder=$folder
    else
        say "pip could not install redlock-py, so it is left out"
    fi
}

# Five masters without persistence. They die with this script, however it ends.
start_servers() {
    folder=$(mktemp -d)
    local port=$((20000 + RANDOM % 8000)) pid tries=0 options=()
    [ "$tls" = no ] || make_certificates
    while [ "${#servers[@]}" -lt 5 ]; do
        tries=$((tries + 1))
        [ "$tries" -le 50 ] || die "no free ports"
        port=$((port + 1))
        [ "$tls" = no ] || options=(--tls-port $((port + 10000)) --tls-auth-clients no
            --tls-cert-file "$folder/cert.pem" --tls-key-file "$folder/key.pem")
        taskset -c "$server_cpu" setpriv --pdeathsig KILL redis-server --port "$port" \
            --bind 127.0.0.1 --save '' --appendonly no --dir "$folder" "${options[@]}" >/dev/null &
        pid=$!
        # Nobody needs to be told when it is killed.
        disown "$pid"
        wait_for_server "$pid" "$port" || continue
        servers+=("$pid")
        nodes+=${nodes:+,}127.0.0.1:$port
        tls_nodes+=${tls_nodes:+,}127.0.0.1:$((port + 10000))
    done
}

# An authority and the certificate of all servers. Curve and cipher are what both sides prefer.
make_certificates() {
    local key=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2)
    openssl req -x509 "${key[@]}" -keyout "$folder/ca.key" -out "$folder/ca.pem" \
        -subj /CN=peers 2>/dev/null
    openssl req "${key[@]}" -keyout "$folder/key.pem" -subj /CN=127.0.0.1 2>/dev/null |
        openssl x509 -req -CA "$folder/ca.pem" -CAkey "$folder/ca.key" -CAcreateserial -days 2 \
            -extfile <(echo subjectAltName=IP:127.0.0.1) -out "$folder/cert.pem" 2>/dev/null
}

# Whether the process answers at the port; false if it has ended because the port is taken.
wait_for_server() {
    for _ in $(seq 200); do
        kill -0 "$1" 2>/dev/null || return 1
        [ "$(redis-cli -p "$2" info server 2>/dev/null | tr -d '\r' |
            sed -n 's/^process_id://p')" = "$1" ] && return 0
        sleep 0.05
    done
    die "a server does not answer"
}

stop_servers() {
    for pid in "${servers[@]}"; do
        kill -KILL "$pid" 2>/dev/null || true
    done
    [ -z "$folder" ] || rm -rf "$folder"
}

# With many locks in flight, and with one.
closed_loops() {
    local round
    for round in $(seq "$rounds"); do
        say "round $round of $rounds"
        turns "$round" measure_at 512 "${rust_peers[@]}" ${node_folder:+node-redlock}
        turns "$round" measure_at 1 "${rust_peers[@]}" redbolt-busy \
            ${node_folder:+node-redlock} ${python_folder:+redlock-py}
    done
}

# few_loops <contestant…>: with many locks in flight, with some and with one, at the same servers.
few_loops() {
    local round in_flight
    for round in $(seq "$rounds"); do
        say "round $round of $rounds"
        for in_flight in 512 64 1; do
            turns "$round" measure_at "$in_flight" "$@"
        done
        [ "$majority" = no ] || turns "$round" measure_at 1 "${alone_peers[@]}"
    done
}

sweep_in_flight() {
    local round in_flight
    for round in $(seq $(((rounds + 1) / 2))); do
        say "sweep, round $round"
        for in_flight in "${sweep[@]}"; do
            turns "$round" measure_at "$in_flight" "${rust_peers[@]}"
        done
    done
}

open_loops() {
    local round rate
    for round in $(seq $(((rounds + 1) / 2))); do
        say "open loop, round $round"
        for rate in "${rates[@]}"; do
            turns "$round" measure_rate "$rate" "${engines[@]}"
        done
    done
}

# turns <round> <measure> <load> <contestant…>: all of them, in every round from another one on,
# so that nobody always runs behind the same neighbour.
turns() {
    local round=$1 measure=$2 load=$3
    shift 3
    local all=("$@") index
    for ((index = 0; index < $#; index++)); do
        "$measure" "$load" "${all[$(((index + round - 1) % $#))]}" --round "$round"
    done
}

measure_at() {
    measure "$2" --in-flight "$1" "${@:3}"
}

measure_rate() {
    measure "$2" --in-flight 1024 --rate "$1" "${@:3}"
}

# One row, or one failure more; then nobody has to live with the keys that were left behind.
measure() {
    if ! contestant "$@" --nodes "$nodes" --seconds "$seconds" >>"$csv"; then
        failed=$((failed + 1))
        say "failed: $*"
        for node in ${nodes//,/ }; do
            redis-cli -p "${node#*:}" flushall >/dev/null
        done
    fi
}

contestant() {
    case $1 in
        node-redlock) pinned node "$node_folder/contestant.js" "${@:2}" ;;
        redlock-py)
            PYTHONPATH=$python_folder pinned python3 "$here/python/contestant.py" "${@:2}"
            ;;
        *-tls)
            pinned "$peers" measure "$@" --tls-nodes "$tls_nodes" --tls-ca "$folder/ca.pem"
            ;;
        *) pinned "$peers" measure "$@" ;;
    esac
}

pinned() {
    timeout 30 taskset -c "$client_cpu" "$@"
}

# What somebody needs to know who reads the figures later.
facts() {
    echo "date: $(date -u +%FT%TZ)"
    echo "commit: $(git -C "$here" describe --always --dirty --abbrev=12 --exclude '*')"
    echo "command: $command"
    echo "processor: $(lscpu | sed -n 's/^Model name: *//p'), $(nproc) cores, $(hypervisor)"
    echo "kernel: $(uname -srm)"
    echo "cores: client on $client_cpu, all servers on $server_cpu, niceness $(nice)"
    # Where sessions are scheduled as groups, it is the niceness of the group that counts.
    [ ! -r /proc/self/autogroup ] || echo "session: $(sed 's/^[^ ]* //' /proc/self/autogroup)"
    echo "server: $(redis-server --version | cut -d ' ' -f 1-3)"
    echo "compiler: $(rustc --version)"
    for crate in redis rslock tokio mio rustls ring; do
        echo "$crate: $(locked_version "$crate")"
    done
    [ -z "$node_folder" ] || echo "node: $(node --version), $(npm_versions)"
    [ -z "$python_folder" ] ||
        echo "python: $(python3 --version), $(paste -sd ' ' "$here/python/requirements.txt")"
    echo "seconds: $seconds a run after 0.2 of warm-up, $rounds rounds"
    echo "load average at the start: $(load_average)"
}

hypervisor() {
    lscpu | sed -n 's/^Hypervisor vendor: *//p' | grep . || echo "no hypervisor"
}

locked_version() {
    grep -A 1 "^name = \"$1\"$" "$here/Cargo.lock" | sed -n 's/^version = "\(.*\)"/\1/p'
}

npm_versions() {
    sed -n 's/^ *"\(ioredis\|redlock\)": "\(.*\)".*/\1 \2/p' "$here/node/package.json" |
        paste -sd ' '
}

load_average() {
    cut -d ' ' -f 1-3 /proc/loadavg
}

say() {
    echo "$1" >&2
}

die() {
    echo "benches/peers/run.sh: $1" >&2
    exit 1
}

main "$@"
