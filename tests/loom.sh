#!/usr/bin/env bash
# Tries every order in which the threads of a client can hand things over: tests/loom.sh
set -euo pipefail
cd "$(dirname "$0")/.."

# A build of its own, so that the others are not thrown away.
RUSTFLAGS="--cfg redbolt_loom" CARGO_TARGET_DIR=target/loom \
    cargo test --locked --release --lib client::tests::models
