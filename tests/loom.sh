#!/bin/sh
# Tries every order in which the threads of a client can hand things over: tests/loom.sh
set -eu
cd "$(dirname "$0")/.."

# All features, as in tests/run.sh: then the dependencies are those of the other tests.
RUSTC_WORKSPACE_WRAPPER=$PWD/tests/cfg/redbolt_loom \
    exec cargo test --locked --all-features --lib client::tests::models
