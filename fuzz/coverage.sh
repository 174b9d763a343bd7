#!/usr/bin/env bash
# Says how much of the sources the committed corpora reach, and fails where that is less than it was:
#
#   fuzz/coverage.sh [--lines FILE…]
#
# --lines prints these files of the repository with the number of times that each line was reached.
#
# The targets are built without the fuzzer's eyes and with those of the compiler, and run over their
# corpora once. The tools of LLVM come with the toolchain (`rustup component add llvm-tools`), or
# from the package llvm-N of the version N with which the compiler was built; they are installed
# where they are missing.
set -euo pipefail
cd "$(dirname "$0")"

. ./cargo-fuzz.sh

# The least coverage in percent: what, lines, branches.
floors='
src/resp           92 93
src/redlock        89 79
'

main() {
    local target objects=() out=$PWD/target/coverage
    find_tools
    # Branches are counted by an option that needs RUSTC_BOOTSTRAP=1. Build scripts are counted as
    # well, and write their own file.
    LLVM_PROFILE_FILE=$out/build.profraw RUSTFLAGS="-C instrument-coverage -Z coverage-options=branch" \
        cargo build --quiet --locked --bins --target-dir "$out"
    rm -rf "$out/raw"
    mkdir -p "$out/raw"
    while read -r target; do
        LLVM_PROFILE_FILE=$out/raw/$target-%p.profraw \
            "$out/debug/$target" -timeout=60 corpus/"$target"/* >"$out/$target.log" 2>&1 ||
            die "$target fails: $out/$target.log"
        objects+=(--object "$out/debug/$target")
    done < <(all_targets)
    "$profdata" merge --sparse --output "$out/all.profdata" "$out"/raw/*.profraw
    cover() { "$cov" "$@" --instr-profile "$out/all.profdata" "${objects[@]:1}"; }
    if [ "${1:-}" = --lines ]; then
        shift
        cover show --sources "${@/#/..\/}"
    else
        compare
    fi
}

compare() {
    local folder lines branches found status=0
    while read -r folder lines branches; do
        found=$(cover report --sources "../$folder" | awk '
            $1 == "TOTAL" { gsub("%", ""); print $10, $13 }')
        printf '%-18s %6s %% of lines, %6s %% of branches\n' "$folder" $found
        awk -v floor="$lines $branches" '{
            split(floor, least, " ")
            exit !($1 >= least[1] && $2 >= least[2])
        }' <<<"$found" || {
            echo "$folder: at least $lines % of lines and $branches % of branches are demanded"
            status=1
        }
    done < <(grep . <<<"$floors")
    return "$status"
}

# The tools must know the format of the compiler, so they must be as new as it.
find_tools() {
    local folder version
    folder=$(rustc --print target-libdir)/../bin
    version=$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
    for attempt in 1 2 3; do
        if [ -x "$folder/llvm-cov" ]; then
            profdata=$folder/llvm-profdata cov=$folder/llvm-cov
            return
        elif command -v "llvm-cov-$version" >/dev/null; then
            profdata=llvm-profdata-$version cov=llvm-cov-$version
            return
        fi
        case $attempt in
            1) rustup component add llvm-tools || true ;;
            2) apt-get install -y "llvm-$version" || true ;;
        esac
    done
    die "no llvm-cov of version $version, and none can be installed"
}

die() {
    echo "fuzz/coverage.sh: $1" >&2
    exit 1
}

main "$@"
