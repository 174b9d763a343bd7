#!/usr/bin/env bash
# Tries every order in which the threads of a client can hand things over: tests/loom.sh
set -euo pipefail
cd "$(dirname "$0")/.."

# A build of its own, so that the others are not thrown away. To optimize it takes minutes, and the
# orders are tried within seconds without that.
RUSTFLAGS="--cfg redbolt_loom" CARGO_TARGET_DIR=target/loom CARGO_PROFILE_DEV_DEBUG=none \
    cargo test --locked --lib client::tests::models
