# What the scripts of this folder share. They read it with `.`, and nobody runs it.

# The one version of cargo-fuzz whose options and folders the scripts know.
cargo_fuzz_version=0.13.2

export RUSTC_BOOTSTRAP=1
export PATH=$PWD/target/tools/bin:$PATH

install_cargo_fuzz() {
    [ "$(cargo-fuzz --version 2>/dev/null)" = "cargo-fuzz $cargo_fuzz_version" ] ||
        cargo install --locked --force --root target/tools "cargo-fuzz@$cargo_fuzz_version"
}

# The names of all targets, a line each.
all_targets() {
    for file in fuzz_targets/*.rs; do
        basename "$file" .rs
    done
}

# options TARGET: the options of the fuzzer for a target, beside those of a run.
options() {
    local max_len=4096 words=resp more=
    case $1 in
        # A long script tells many short stories, and costs as much as those.
        core | handshake | engine | init | tls) max_len=1024 words=info more=-len_control=0 ;;
        # What a client promises to send must not be reserved.
        server) max_len=1024 more="-len_control=0 -malloc_limit_mb=16 -rss_limit_mb=1024" ;;
        addresses) words=settings ;;
    esac
    echo "-max_len=$max_len -dict=dictionaries/$words.dict -timeout=10 $more"
}
