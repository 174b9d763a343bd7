#!/bin/sh
# Builds the core with saboteurs in it, one for each rule, and looks whether the simulator catches
# every one of them (tests/sim/saboteurs.rs, src/redlock/sabotage.rs).
#
#   tests/saboteurs.sh
#
# The build has a folder of its own, so that its flags do not make others build everything anew.
set -eu
cd "$(dirname "$0")/.."
RUSTFLAGS="${RUSTFLAGS:-} --cfg redbolt_sabotage" exec cargo test --locked --profile sabotage \
    --target-dir "${CARGO_TARGET_DIR:-target}/sabotage-build" --test sim "$@"
