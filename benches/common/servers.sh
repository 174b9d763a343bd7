# Five redis-server processes for a measurement: to be read by the scripts in benches/, which set
# FIRST_PORT. `nodes` has their addresses, `pids` their processes, `client` the processors that the
# client is to be pinned to.

# Starts the servers, with a folder for them and for figures, both of which go at the end.
start_servers() {
    local port number
    folder=$(mktemp -d)
    pids=()
    nodes=()
    trap clean_up EXIT
    trap 'exit 1' INT PIPE TERM
    for port in $(seq "$FIRST_PORT" $((FIRST_PORT + 4))); do
        mkdir "$folder/$port"
        redis-server --port "$port" --bind 127.0.0.1 --save "" --appendonly no \
            --dir "$folder/$port" >"$folder/$port/log" &
        pids+=($!)
        nodes+=("127.0.0.1:$port")
    done
    for number in "${!pids[@]}"; do
        until (: </dev/tcp/127.0.0.1/$((FIRST_PORT + number))) 2>/dev/null; do
            kill -0 "${pids[number]}" 2>/dev/null || fail_to_start "$((FIRST_PORT + number))"
        done
    done
    # Whoever found its port taken has ended by now.
    for number in "${!pids[@]}"; do
        kill -0 "${pids[number]}" 2>/dev/null || fail_to_start "$((FIRST_PORT + number))"
    done
}

fail_to_start() {
    tail -n 3 "$folder/$1/log" >&2
    fail "no redis-server could be started on port $1 (FIRST_PORT chooses others)"
}

fail() {
    echo "$1" >&2
    exit 1
}

clean_up() {
    kill "${pids[@]}" 2>/dev/null || true
    wait
    rm -rf "$folder"
}

# pin <processors of the client> <processors of the servers>
pin() {
    local pid
    client=$1
    for pid in "${pids[@]}"; do
        taskset --all-tasks --pid --cpu-list "$2" "$pid" >/dev/null
    done
}
