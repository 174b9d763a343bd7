#!/bin/sh
# Builds the core with saboteurs in it, one for each rule, and looks whether the simulator catches
# every one of them (tests/sim/saboteurs.rs, src/redlock/sabotage.rs).
#
#   tests/saboteurs.sh
#
# With REDBOLT_JEPSEN_SABOTEUR, the mini-Jepsen runs instead, with this saboteur in all its clients:
#
#   REDBOLT_JEPSEN_SABOTEUR=HalfIsEnough tests/saboteurs.sh no_two_clients
#
# The build has a folder of its own, so that its flags do not make others build everything anew.
set -eu
cd "$(dirname "$0")/.."
test=sim
[ -z "${REDBOLT_JEPSEN_SABOTEUR:-}" ] || test=jepsen
RUSTFLAGS="${RUSTFLAGS:-} --cfg redbolt_sabotage" exec cargo test --locked --profile sabotage \
    --target-dir "${CARGO_TARGET_DIR:-target}/sabotage-build" --test "$test" "$@"
