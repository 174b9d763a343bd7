#!/bin/sh
# Passes all tests on a machine that has Rust and a shell: installs a Redis server and PostgreSQL
# where there is none, fetches servers of other versions where they can be had, runs the tests, and looks whether
# they have left a process behind.
#
#   tests/run.sh [arguments for cargo test]
#
# REDBOLT_TEST_SERVER chooses another server, by name or path, such as valkey-server.
set -eu

policy=/usr/sbin/policy-rc.d
policy_is_ours=no
folder=

main() {
    case ${1:-} in
        -h | --help)
            sed -nE '2,/^set/s/^# ?//p' "$0"
            return
            ;;
    esac
    cd "$(dirname "$0")/.."
    trap clean_up EXIT
    trap 'exit 130' INT
    trap 'exit 143' HUP TERM
    find_cargo
    find_server
    find_strace
    find_postgres
    # Without them the tests say what they leave out.
    tests/flavours.sh || echo "going on with the flavours that are there" >&2
    # The tests put a folder with the process id of every server they start below it.
    folder=$(mktemp -d "${TMPDIR:-/tmp}/redbolt-run-XXXXXX")
    folder=$(cd "$folder" && pwd -P)
    # PostgreSQL does not run as root, and has to reach its folder as somebody else.
    chmod 711 "$folder"
    run_with_threads
    status=0
    TMPDIR=$folder cargo test --locked --all-features "$@" || status=$?
    check_nothing_is_left || status=1
    return "$status"
}

find_cargo() {
    PATH=$PATH:${CARGO_HOME:-${HOME:-}/.cargo}/bin
    command -v cargo >/dev/null || die "cargo is not on the PATH: install Rust (https://rustup.rs)"
}

find_server() {
    if [ -n "${REDBOLT_TEST_SERVER:-}" ]; then
        command -v "$REDBOLT_TEST_SERVER" >/dev/null ||
            die "REDBOLT_TEST_SERVER is $REDBOLT_TEST_SERVER, which cannot be found"
        return
    fi
    server_is_there && return
    echo "no redis-server or valkey-server on the PATH: installing one"
    install_server
    server_is_there || die "the package has been installed, but no server is on the PATH"
}

# Cargo starts each test program by this script, unless the environment names another one.
run_with_threads() {
    runner=CARGO_TARGET_$(rustc -vV | sed -n 's/^host: //p' | tr 'a-z.-' 'A-Z__')_RUNNER
    eval "export $runner=\"\${$runner:-tests/threads.sh}\""
}

# One test makes system calls fail with it, and says so where it has to leave that out.
find_strace() {
    command -v strace >/dev/null || (install_strace) ||
        echo "going on without strace, which could not be installed" >&2
}

install_strace() {
    command -v apt-get >/dev/null || die "only apt-get is tried"
    strace="apt-get install -y --no-install-recommends strace"
    as_root $strace || { as_root apt-get update && as_root $strace; }
}

# One group of tests writes to PostgreSQL, and says so where it has to leave that out.
find_postgres() {
    postgres_is_there && return
    echo "no PostgreSQL: installing it"
    if command -v apt-get >/dev/null && (as_root true); then
        forbid_services
        (install_postgres) || true
        allow_services
    fi
    postgres_is_there || echo "going on without PostgreSQL, which could not be installed" >&2
}

postgres_is_there() {
    command -v psql >/dev/null || return
    command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1
}

install_postgres() {
    postgres="env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends"
    postgres="$postgres postgresql"
    as_root $postgres || { as_root apt-get update && as_root $postgres; } || return
    disable_service postgresql
}

server_is_there() {
    command -v redis-server >/dev/null || command -v valkey-server >/dev/null
}

# Both packages are named where a distribution may have only one of them.
install_server() {
    if command -v apt-get >/dev/null; then
        install_with_apt
    elif command -v dnf >/dev/null; then
        as_root dnf install -y redis || as_root dnf install -y valkey
    elif command -v apk >/dev/null; then
        as_root apk add --no-cache redis || as_root apk add --no-cache valkey
    elif command -v pacman >/dev/null; then
        as_root pacman -Sy --noconfirm --needed valkey
    elif command -v brew >/dev/null; then
        brew install redis
    else
        die "no known package manager: install redis-server or valkey-server by hand"
    fi || die "the package manager could not install a server (see above): install one by hand"
}

install_with_apt() {
    # It fails as a whole when one source of many is out of reach; the package may be in another.
    as_root apt-get update || echo "going on with the package lists that are there" >&2
    installed=yes
    forbid_services
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends redis-server || installed=no
    allow_services
    [ "$installed" = yes ] && disable_service redis-server
}

# Debian starts a service as soon as its package is there, unless this file forbids it.
forbid_services() {
    [ ! -e "$policy" ] || return 0
    policy_is_ours=yes
    as_root sh -c 'printf "#!/bin/sh\nexit 101\n" >"$1" && chmod 755 "$1"' sh "$policy"
}

allow_services() {
    [ "$policy_is_ours" = yes ] || return 0
    policy_is_ours=no
    as_root rm -f "$policy"
}

# The tests want the program; nobody asked for a service at the next boot.
disable_service() {
    if [ -d /run/systemd/system ]; then
        as_root systemctl disable --now "$1" || echo "the service $1 stays enabled" >&2
    fi
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        sudo -n "$@"
    else
        die "installing a server needs root or sudo without a password: install redis-server by hand"
    fi
}

# A server dies with its test, at the latest with the test process; a few seconds are for that.
check_nothing_is_left() {
    tries=0
    while left=$(running) && [ -n "$left" ] && [ "$tries" -lt 5 ]; do
        tries=$((tries + 1))
        sleep 1
    done
    [ -n "$left" ] || return 0
    echo "the tests have left servers running, which are killed now:$left" >&2
    for pid in $left; do
        kill -9 "$pid" || true
    done
    return 1
}

# The servers of this run that are alive, by their files.
running() {
    for file in "$folder"/redbolt-*/pid; do
        if [ -s "$file" ] && read -r pid <"$file" && is_ours "$pid" "${file%/pid}"; then
            printf ' %s' "$pid"
        fi
    done
}

# A server works in its folder, or below it; a process that does not has only inherited the number
# of a dead one.
is_ours() {
    if [ -d /proc/self ]; then
        case $(readlink "/proc/$1/cwd") in
            "$2" | "$2"/*) ;;
            *) return 1 ;;
        esac
    else
        kill -0 "$1" 2>/dev/null
    fi
}

clean_up() {
    allow_services
    [ -z "$folder" ] || rm -rf "$folder"
}

die() {
    echo "tests/run.sh: $1" >&2
    exit 1
}

main "$@"
