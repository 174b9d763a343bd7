#!/bin/sh
# Fetches the servers that tests/flavours runs beside the installed one: older and newer Redis and
# Valkey, into target/flavours/.
#
#   tests/flavours.sh
#
# They are Debian packages, from the archive that the machine's own apt knows, most of them of newer
# suites. Each is unpacked with its libraries and run through the loader that comes with those, so
# that nothing is installed. What is there is not fetched again; to begin anew, remove the folder.
# What cannot be had is named with the reason, which is kept for the tests: they leave it out then.
# That is no failure.
set -eu

# All of them are asked, because a server moves from the newest to the older ones over the years.
suites="bookworm trixie forky sid experimental"
# Seconds: for a sign of the archive, the package lists of all suites, the packages of one server.
time_for_sign=10
time_for_lists=180
time_for_server=120

folder=
work=

main() {
    cd "$(dirname "$0")/.."
    mkdir -p target/flavours
    folder=$(cd target/flavours && pwd -P)
    trap clean_up EXIT
    trap 'exit 130' INT
    trap 'exit 143' HUP TERM
    installed_is_redis_7 || want redis-7 redis-server '7.*'
    want redis-8 redis-server '8.[0-3].*'
    # The first with a native compare-and-delete.
    want redis-8.4 redis-server '8.[4-9].*'
    want valkey-8 valkey-server '8.*'
    want valkey-9 valkey-server '9.*'
}

# On a machine that has it, as Debian 12 does, the tests take the installed one.
installed_is_redis_7() {
    command -v redis-server >/dev/null && redis-server --version | grep -q ' v=7\.'
}

# want <flavour> <package> <pattern of versions>
want() {
    [ ! -x "$folder/$1/$2" ] || return 0
    [ -n "$work" ] || prepare
    if [ -z "$trouble" ] && fetch "$@"; then
        rm -f "$folder/$1.reason"
        echo "flavours: $1 is $2 $version"
    else
        echo "${reason:-$trouble}" >"$folder/$1.reason"
        echo "flavours: $1 is left out: ${reason:-$trouble}"
    fi
}

# A folder for this run, with an apt of our own in it. The reason why there is none is in $trouble.
prepare() {
    trouble=
    work=$(mktemp -d "$folder/work-XXXXXX")
    for program in apt-get apt-cache dpkg timeout; do
        if ! command -v "$program" >/dev/null; then
            trouble="there is no $program here"
            return
        fi
    done
    archive=$(archive)
    if [ -z "$archive" ]; then
        trouble="apt knows no Debian archive here"
        return
    fi
    configure
    if ! is_in_reach; then
        trouble="the package archive is out of reach"
        return
    fi
    echo "flavours: reading the package lists of other suites"
    # Not every archive has every suite; which of them it has is seen from the packages.
    apt_get "$time_for_lists" update || true
}

# The address of the Debian archive in the machine's own sources, whatever form these have.
archive() {
    . /etc/os-release
    [ "$ID" = debian ] || return 0
    uris=$(apt-get update --print-uris 2>/dev/null) || return 0
    for suite in "${VERSION_CODENAME:-stable}" stable testing unstable sid; do
        echo "$uris" | sed -n "s,^'\([^']*\)/dists/$suite/InRelease' .*,\1,p"
    done | head -n 1
}

# Without a network the many files of an update would take their time one after the other.
is_in_reach() {
    timeout "$time_for_sign" /usr/lib/apt/apt-helper -c "$work/apt.conf" \
        download-file "$archive/dists/sid/InRelease" "$work/sign" >"$work/log" 2>&1
}

configure() {
    mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
    # As if nothing were installed: then all libraries that a server needs are to be had anew.
    : >"$work/status"
    keys=/usr/share/keyrings/debian-archive-keyring.gpg
    [ ! -e "$keys" ] || signed_by="[signed-by=$keys] "
    for suite in $suites; do
        echo "deb ${signed_by:-}$archive $suite main"
    done >"$work/sources.list"
    cat >"$work/apt.conf" <<END
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear Acquire::IndexTargets::deb::DEP-11;
#clear Acquire::IndexTargets::deb::DEP-11-icons;
#clear APT::Architectures;
APT::Architectures { "$(dpkg --print-architecture)"; };
APT::Sandbox::User "";
APT::Get::List-Cleanup "false";
Acquire::GzipIndexes "false";
Acquire::Languages "none";
Debug::NoLocking "true";
Dir::Cache "$work/cache";
Dir::Cache::pkgcache "pkgcache.bin";
Dir::Cache::srcpkgcache "srcpkgcache.bin";
Dir::Etc::SourceList "$work/sources.list";
Dir::Etc::SourceParts "-";
Dir::Etc::Preferences "-";
Dir::Etc::PreferencesParts "-";
Dir::State::Lists "$work/lists";
Dir::State::extended_states "$work/extended_states";
Dir::State::status "$work/status";
END
}

# apt_get <seconds> <arguments …>
apt_get() {
    seconds=$1
    shift
    LC_ALL=C timeout "$seconds" apt-get -q -c "$work/apt.conf" "$@" >"$work/log" 2>&1
}

# All versions of a package, the highest first.
versions() {
    LC_ALL=C apt-cache -c "$work/apt.conf" madison "$1" 2>/dev/null | cut -d '|' -f 2 | tr -d ' '
}

# Fetches a flavour; $version is its version then, else $reason why not.
fetch() {
    reason=
    version=$(choose "$2" "$3")
    if [ -z "$version" ]; then
        reason="no suite has $2 $3"
    elif ! download "$2" "$version"; then
        reason="$2 $version could not be downloaded with its libraries"
    elif ! unpack "$1" "$2"; then
        reason="$2 $version could not be unpacked"
    elif ! "$work/$1/$2" --version >/dev/null 2>&1; then
        reason="$2 $version does not run on this machine"
    elif ! mv "$work/$1" "$folder/$1"; then
        reason="$folder/$1 is in the way"
    else
        return 0
    fi
    return 1
}

# The highest version that matches, but for its epoch.
choose() {
    for version in $(versions "$1"); do
        # The pattern is one on purpose.
        # shellcheck disable=SC2254
        case ${version#*:} in
            $2) echo "$version" && break ;;
        esac
    done
}

# The package, its other half with the program itself, and the libraries that these need.
download() {
    tools=${1%-server}-tools
    rm -rf "$work/packages"
    mkdir "$work/packages"
    apt_get "$time_for_server" --no-install-recommends --simulate install \
        "$1=$2" "$tools=$2" || return 1
    libraries=$(sed -n 's/^Inst \(\(lib\|lua\|zlib\)[^ ]*\) (\([^ ]*\) .*/\1=\3/p' "$work/log")
    # Names and versions have no spaces in them.
    # shellcheck disable=SC2086
    (cd "$work/packages" && apt_get "$time_for_server" download "$1=$2" "$tools=$2" $libraries)
}

# Unpacks what was downloaded, and puts a program beside it that runs the server with it.
unpack() {
    root=$work/$1/root
    mkdir -p "$root" || return 1
    for package in "$work"/packages/*.deb; do
        dpkg -x "$package" "$root" || return 1
    done
    rm -rf "$root/etc" "$root/var" "$root/usr/share"
    loader=$(cd "$root" && find . -name 'ld-linux*.so.*' -type f | head -n 1)
    [ -n "$loader" ] || return 1
    libraries=$(dirname "$loader")
    # It becomes the server, so that the process id stays the same.
    cat >"$work/$1/$2" <<END || return 1
#!/bin/sh
root=\${0%/*}/root
exec "\$root/$loader" --library-path "\$root/$libraries:\$root/usr/lib" "\$root/usr/bin/$2" "\$@"
END
    chmod 755 "$work/$1/$2"
}

clean_up() {
    [ -z "$work" ] || rm -rf "$work"
}

main "$@"
