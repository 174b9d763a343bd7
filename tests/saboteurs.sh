#!/bin/sh
# Builds the core with saboteurs in it, one for each rule, and looks whether the simulator catches
# every one of them (tests/sim/saboteurs.rs, src/redlock/sabotage.rs).
#
#   tests/saboteurs.sh
#
# With REDBOLT_JEPSEN_SABOTEUR, the mini-Jepsen runs instead, with this saboteur in all its clients:
#
#   REDBOLT_JEPSEN_SABOTEUR=HalfIsEnough tests/saboteurs.sh no_two_clients
set -eu
cd "$(dirname "$0")/.."
test=sim
[ -z "${REDBOLT_JEPSEN_SABOTEUR:-}" ] || test=jepsen
# All features, as in tests/run.sh: then the dependencies are those of the other tests. Saboteurs
# insist on debug assertions, so no profile for releases would do.
RUSTC_WORKSPACE_WRAPPER=$PWD/tests/cfg/redbolt_sabotage CARGO_PROFILE_DEV_OPT_LEVEL=1 \
    exec cargo test --locked --all-features --test "$test" "$@"
