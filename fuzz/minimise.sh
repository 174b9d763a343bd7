#!/usr/bin/env bash
# Makes a corpus of what fuzz/run.sh has found, as small as it can be: fuzz/minimise.sh TARGET…
#
# The committed files and those in found/ are reduced to as few as reach the same branches, and
# take the place of the committed ones. Not for targets whose files have names of their own.
set -euo pipefail
cd "$(dirname "$0")"

. ./cargo-fuzz.sh

install_cargo_fuzz
for target in "$@"; do
    kept=target/kept/$target
    rm -rf "$kept"
    mkdir -p "$kept" "found/$target" target/logs
    cargo fuzz run "$target" "$kept" "corpus/$target" "found/$target" -- \
        -set_cover_merge=1 -use_counters=0 $(options "$target") >"target/logs/$target.log" 2>&1
    rm -f "corpus/$target"/*
    count=0
    for file in $(ls -Sr "$kept"); do
        cp "$kept/$file" "corpus/$target/kept-$(printf %03d "$count")"
        count=$((count + 1))
    done
    echo "$target: $count files, $(du -sb "corpus/$target" | cut -f 1) bytes"
done
