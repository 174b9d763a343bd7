# What .ci/run and .ci/night have in common: sourced, not run.

export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-never}
# Backtraces need lines, and nobody runs a debugger here: what is compiled and linked is smaller.
export CARGO_PROFILE_DEV_DEBUG=${CARGO_PROFILE_DEV_DEBUG:-line-tables-only}
# A clean checkout is built once, so what would speed up the next build only fills the disk: 2 of 5 GB.
export CARGO_INCREMENTAL=${CARGO_INCREMENTAL:-0}

# step <name> <command…>: announces it, runs it, and says how long it took. Returns what it returned.
step() {
    local name=$1 start=$SECONDS
    shift
    echo "=== $name"
    if ! "$@"; then
        echo "=== $name: FAILED after $((SECONDS - start)) s"
        return 1
    fi
    echo "=== $name: ok, $((SECONDS - start)) s"
}
