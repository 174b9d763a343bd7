#!/bin/sh
# Runs a test program, for tests/run.sh: with twice as many threads as there are processors where its
# tests mostly wait, for servers and for the ends of programs. Others measure, or need the processors.
set -eu

case ${1##*/} in
    desk_command-* | exec_command-* | faults-* | flavours-* | init_command-* | jepsen-* | transports-*)
        processors=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN || echo 1)
        export RUST_TEST_THREADS="${RUST_TEST_THREADS:-$((2 * processors))}"
        ;;
esac
exec "$@"
