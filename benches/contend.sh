#!/usr/bin/env bash
# What contention costs: benches/contend.sh [scenario [--option value …]]
#
# Starts five redis-server processes and runs one scenario, or all of them, on whatever processors
# the scheduler chooses. Each result is a table and a line that begins with `json`. A `-`, in JSON
# null, stands for what has no samples or is not counted. The load is made by the public client
# (benches/contend), in processes that the driver starts and kills.
# `contend.sh` alone takes some ten minutes, with 300 s for `engines`.
#
#   house      100 threads, then 100 tasks, of one client want one resource and hold it for nothing,
#              so that the lock stays in the house, on loopback and then through a proxy that makes the round trip 1 ms.
#              --seconds 3 --threads 100 --tasks 100 --hold 0 --rtt 1ms
#   processes  10 processes of one client with 10 threads each want one resource.
#              --seconds 60 --hold 5ms --processes 10 --threads 10 --clients 1 --rtt 0
#   engines    the same with 100 clients of one thread each, ten to a process.
#              --seconds 300 --hold 100ms --processes 10 --clients 10 --threads 1 --rtt 0
#   idle       30 clients, then 100, of one thread each, wait for a holder that keeps its lock; then
#              the holder lets go (rounds), or is killed by SIGKILL (kills; ttl is that of its
#              lock). Columns: what waiting adds at all nodes together (`…_per_s`), at the busiest
#              one and for each waiter; what all nodes did before anybody waited (`calm_per_s`).
#              --seconds 10 --waiters 30,100 --processes 10 --rounds 5 --kills 3 --ttl 2s --rtt 0
#   sets       4 clients of one thread each for each of some resources, which want that one, beside
#              2 that want all of them by lock_all; for 2, 4 and 8 resources, one after the other.
#              --seconds 20 --hold 5ms --sizes 2,4,8 --clients 4 --sets 2
#
# `processes` and `engines` can measure others (benches/contend/peer.rs), with `--peer poll`, a
# Redlock that comes again after a random pause, `--peer pubsub`, one node that tells all who wait
# of a release, or `--peer etcd`, where `etcd` is on the PATH. A process of 100 threads and
# `--hold 0` is then the like of `house`. Commands are those of the redis-servers. With `--worker
# <program>` the processes are of a program from elsewhere, for clients in other languages: options
# and lines are those of benches/contend/worker.rs, of which `run` is enough, and `--peer` is a word
# for the program. A program ends with its input.
#
# What the figures mean:
#
# * A hand-over begins before the drop of a guard, and ends when another contender has its guard. It
#   counts where the other had asked before (`any`). `across` are those between two processes. All
#   processes note times of one clock, which is CLOCK_BOOTTIME.
# * A wait begins before the request. Waits that began in the window count to their end, after the
#   window too: contenders then stop asking, and those who wait get twice a fair wait more, 2 s to
#   30 s. Whoever waits still counts with the wait so far, and as `unfinished`. `longest_before` is
#   the longest of those that had begun before the window: at the start, nobody knows of others.
# * `fair_wait` is what everybody would wait in a perfectly fair queue: the number of contenders
#   times the hold and one round trip, which is the median time of a PING to three nodes until the
#   last has answered. `…_by_fair` are ratios to that.
# * Commands are counted by INFO commandstats of all five nodes, in the window alone. `commands` has
#   what scripts call as well, `requests` has not. What the same clients do while nobody wants a
#   lock is counted before (for 2 s, `idle_per_s`, over all nodes; `calm` in `idle`), and
#   subtracted. INFO is in no sum: engines look at their servers every 20 s, wanted locks or not,
#   and so do we.
# * `overtaken` are grants before which another request had been in the line of the same client.
#   `overlaps` are two guards at one time. Neither must be.
# * `after_expiry` counts from when the key has ended at three nodes, by PTTL after the kill, to the
#   next grant. Percentiles are samples, never interpolated.
set -euo pipefail
cd "$(dirname "$0")/.."
# The head of this file, without servers.
[[ " $* " != *" --help "* && " $* " != *" -h "* ]] || exec sed -nE '2,/^set/s/^# ?//p' benches/contend.sh
. benches/common/servers.sh

FIRST_PORT=${FIRST_PORT:-7601}

main() {
    local scenario
    case ${1:-house} in
        house | processes | engines | idle | sets) ;;
        *) fail "no scenario is called $1: house, processes, engines, idle and sets are possible" ;;
    esac
    need_servers
    cargo bench --locked --bench contend --no-run
    driver=$(cargo bench --locked --bench contend --no-run 2>&1 |
        sed -nE 's/^ *Executable .*\((.*)\)$/\1/p')
    [ -x "$driver" ] || fail "cargo has not told where the driver is"
    start_servers
    echo "five redis-server processes, $(nproc) processors, load $(cut -d' ' -f1-3 /proc/loadavg)"
    if [ $# -gt 0 ]; then
        drive "$@"
    else
        for scenario in house processes engines idle sets; do
            drive "$scenario"
        done
    fi
}

# drive <scenario> <options…>: the driver is among the processes that the end of the script kills,
# and its workers end with it.
drive() {
    local scenario=$1
    shift
    case " $* " in
        *" --peer etcd "*)
            start_etcd
            set -- "$@" --etcd "$(IFS=,; echo "${etcd[*]}")"
            ;;
    esac
    "$driver" --bench "$scenario" --nodes "$(IFS=,; echo "${nodes[*]}")" "$@" &
    pids+=($!)
    wait "$!"
    unset 'pids[-1]'
}

# Five servers of etcd, beside the others. Their data goes with the folder.
start_etcd() {
    local number port peers=()
    etcd=()
    for number in 0 1 2 3 4; do
        peers+=("n$number=http://127.0.0.1:$((FIRST_PORT + 20 + number))")
    done
    for number in 0 1 2 3 4; do
        port=$((FIRST_PORT + 10 + number))
        etcd --name "n$number" --data-dir "$folder/etcd.$number" --log-level error \
            --listen-client-urls "http://127.0.0.1:$port" \
            --advertise-client-urls "http://127.0.0.1:$port" \
            --listen-peer-urls "http://127.0.0.1:$((port + 10))" \
            --initial-advertise-peer-urls "http://127.0.0.1:$((port + 10))" \
            --initial-cluster "$(IFS=,; echo "${peers[*]}")" >"$folder/etcd.$number.log" 2>&1 &
        pids+=($!)
        etcd+=("127.0.0.1:$port")
    done
    for number in 0 1 2 3 4; do
        port=$((FIRST_PORT + 10 + number))
        until (: </dev/tcp/127.0.0.1/$port) 2>/dev/null; do
            kill -0 "${pids[5 + number]}" 2>/dev/null || fail "etcd cannot be started"
        done
    done
}

main "$@"
