# Five redis-server processes for a measurement: to be read by the scripts in benches/, which set
# FIRST_PORT. `nodes` has their addresses, `pids` their processes, `client` the processors that the
# client is to be pinned to.

# begin [rounds]: what a script does first that counts rounds. Says what the script is for where
# --help is asked for, and ends before anything is built where something is missing or wrong.
begin() {
    case "${1:-}" in
        -h | --help)
            sed -nE '2,/^set/s/^# ?//p' "benches/$(basename "$0")"
            exit
            ;;
    esac
    [ $# -le 1 ] || fail "$2 is too much: $0 takes a number of rounds, and variables"
    [[ ${1:-1} =~ ^[1-9][0-9]{0,3}$ ]] || fail "$1 rounds: between 1 and 9999 are possible"
    [[ ${SECONDS_EACH:-1} =~ ^[0-9]+(\.[0-9]+)?$ && ${SECONDS_EACH:-1} =~ [1-9] ]] ||
        fail "SECONDS_EACH is $SECONDS_EACH: a number above 0, such as 0.5, is possible"
    need_servers
}

# Ends where no servers could be started.
need_servers() {
    local tool
    for tool in redis-server taskset; do
        command -v "$tool" >/dev/null || fail "$tool is needed, and is not on the PATH"
    done
    [[ $FIRST_PORT =~ ^[1-9][0-9]{0,4}$ ]] && [ "$FIRST_PORT" -le 65531 ] ||
        fail "FIRST_PORT is $FIRST_PORT: between 1 and 65531 is possible"
}

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
