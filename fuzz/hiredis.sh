#!/usr/bin/env bash
# Our parser beside the reader of hiredis, which is written in C:
#
#   fuzz/hiredis.sh compare [mutations of each input, 200 if not given]
#   fuzz/hiredis.sh ratios      # how many times as long as redbolt hiredis takes
#   fuzz/hiredis.sh lint        # format and lints of fuzz/hiredis
#   fuzz/hiredis.sh             # the first two
#
# The sources of hiredis are part of the source package of its binding to Python, which pip fetches
# below fuzz/hiredis/target; requirements.txt has the version and the checksum. That of Debian may
# be older than RESP3. A compiler of C is needed.
set -euo pipefail
cd "$(dirname "$0")/hiredis"

sources=$PWD/target/sources

main() {
    for tool in cargo cc python3 tar; do
        command -v "$tool" >/dev/null || die "$tool is needed"
    done
    fetch
    case ${1:-all} in
        compare | ratios) program "$@" ;;
        lint)
            cargo fmt --check
            cargo clippy --locked --all-targets -- -D warnings
            ;;
        all)
            program compare
            program ratios
            ;;
        *) die "unknown command $1" ;;
    esac
}

fetch() {
    local package
    package=$(sed -n 's/^\(hiredis\)==\([^ ]*\).*/\1-\2/p' requirements.txt)
    export REDBOLT_HIREDIS=$sources/$package/vendor/hiredis
    [ -e "$REDBOLT_HIREDIS/read.c" ] && return
    mkdir -p "$sources"
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-binary hiredis \
        --require-hashes --requirement requirements.txt --dest "$sources" ||
        die "pip could not fetch the sources of hiredis"
    tar -xzf "$sources/$package.tar.gz" -C "$sources"
}

# program NAME ARGUMENTS…
program() {
    cargo run --release --locked --quiet --bin "$1" -- "${@:2}"
}

die() {
    echo "fuzz/hiredis.sh: $1" >&2
    exit 1
}

main "$@"
