#!/usr/bin/env bash
# Goes through every state of the fencing protocol within bounds, and of its broken forms:
#
#   tests/model.sh [proofs | variants | night | trace WORDS]
#
# Without arguments: what must hold, and what must be refuted; a minute on two cores. `night` is for
# .ci/night: larger worlds, which take several minutes and 4 GiB. tests/model/README.md says what is
# shown.
set -euo pipefail
cd "$(dirname "$0")/.."

# The folder is below the other one, so that the checker is built once and cleaned with the rest.
exec cargo run --quiet --locked --release --manifest-path tests/model/Cargo.toml \
    --target-dir "${CARGO_TARGET_DIR:-target}/model" -- "$@"
