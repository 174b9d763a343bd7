//! The rules about arrows that go up: layers and rooms.

use super::{arrows, sources};
use crate::{Finding, layers, rooms};

/// The files and lines that are found fault with.
fn places(findings: Vec<(String, Finding)>) -> Vec<String> {
    findings.into_iter().map(|(file, finding)| format!("{file}:{}", finding.line)).collect()
}

fn check_layers(file: &str, text: &str) -> Vec<String> {
    places(layers::check(&arrows(&[
        (file, text),
        ("src/lib.rs", "pub use self::engine::Engine;\n"),
        ("src/resp/mod.rs", "pub struct Value;\n"),
        ("src/redlock/mod.rs", "mod lease;\npub use self::lease::Lease;\n"),
        ("src/redlock/lease.rs", "pub struct Lease;\n"),
        ("src/net/mod.rs", "pub struct Clock;\n"),
        ("src/engine.rs", "pub struct Engine;\n"),
    ])))
}

#[test]
fn a_layer_that_uses_one_above_is_found() {
    for (file, text) in [
        ("src/resp/a.rs", "use crate::redlock::Lease;"),
        ("src/resp/a.rs", "use super::super::redlock::Lease;"),
        ("src/redlock/a.rs", "use crate::{resp, net::Clock};"),
        ("src/redlock/a.rs", "use crate::net;fn f(clock: net::Clock) {}"),
        ("src/net/a.rs", "fn f(e: crate::engine::Engine) {}"),
        ("src/net/a.rs", "fn f(e: crate::Engine) {}"),
    ] {
        assert_eq!(check_layers(file, text), [format!("{file}:1")], "{text}");
    }
}

#[test]
fn a_layer_that_uses_one_below_is_not() {
    for (file, text) in [
        ("src/redlock/a.rs", "use crate::resp::Value;"),
        ("src/redlock/a.rs", "use super::Lease;\nuse network::Lease as Other;"),
        ("src/client/a.rs", "use crate::{net::Clock, redlock, Engine};"),
        ("src/client.rs", "fn f(lease: crate::redlock::Lease) {}"),
        ("src/redlock/tests.rs", "use crate::net::Clock;"),
        ("src/bin/redbolt/main.rs", "use redbolt::Engine;"),
    ] {
        assert_eq!(check_layers(file, text), [""; 0], "{text}");
    }
}

/// The places found in a `src/redlock` with an item in every room, and in one more file.
fn check_rooms(file: &str, text: &str) -> Vec<String> {
    let tree = [
        (file, text),
        ("src/lib.rs", "pub mod redlock;\n"),
        ("src/redlock/mod.rs", "mod lock;\npub use self::machine::Machine;\nuse lock::Lock;\n"),
        ("src/redlock/token.rs", "pub struct Token;\n"),
        ("src/redlock/wire/mod.rs", "mod script;\npub(super) use self::script::Script;\n"),
        ("src/redlock/wire/script.rs", "pub struct Script;\n"),
        ("src/redlock/lock/mod.rs", "pub struct Lock;\n"),
        ("src/redlock/node/mod.rs", "use super::wire::Script;\npub struct Node;\n"),
        ("src/redlock/machine/mod.rs", "use super::lock::Lock;\npub struct Machine;\n"),
    ];
    // The first file may replace one of the others.
    let (first, rest) = tree.split_at(1);
    let others = rest.iter().filter(|(path, _)| *path != file);
    let tree: Vec<_> = first.iter().chain(others).copied().collect();
    places(rooms::check(&sources(&tree), &arrows(&tree)))
}

#[test]
fn an_import_from_a_room_above_is_found() {
    for (file, text) in [
        ("src/redlock/a.rs", "use super::wire::Script;"),
        ("src/redlock/wire/a.rs", "use super::super::lock::Lock;"),
        ("src/redlock/wire/a.rs", "use crate::redlock::Machine;"),
        ("src/redlock/lock/a.rs", "fn f(n: crate::redlock::node::Node) {}"),
        ("src/redlock/node/a.rs", "pub use super::super::machine::Machine as M;"),
        ("src/redlock/node/a.rs", "use super::super::machine; fn f(m: machine::Machine) {}"),
    ] {
        assert_eq!(check_rooms(file, text), [format!("{file}:1")], "{text}");
    }
}

#[test]
fn an_import_from_the_same_room_or_one_below_is_not() {
    for (file, text) in [
        ("src/redlock/a.rs", "use super::token::Token;\nuse crate::time::Instant;"),
        ("src/redlock/wire/a.rs", "use super::Script;\nuse crate::redlock::token::Token;"),
        ("src/redlock/lock/a.rs", "use super::super::wire::Script;"),
        ("src/redlock/machine/a.rs", "use super::{Machine, super::node::Node};"),
        ("src/redlock/tests/a.rs", "use super::super::machine::Machine;"),
        ("src/redlock/wire/tests.rs", "use crate::redlock::Machine;"),
        ("src/redlock/a.rs", "#[cfg(test)]\nmod tests {\n    use super::super::node::Node;\n}"),
    ] {
        assert_eq!(check_rooms(file, text), [""; 0], "{text}");
    }
}

#[test]
fn a_folder_that_is_no_room_is_found() {
    assert_eq!(check_rooms("src/redlock/attic/a.rs", "fn f() {}"), ["src/redlock/attic/a.rs:1"]);
}

#[test]
fn an_item_above_the_rooms_is_found() {
    let file = "src/redlock/mod.rs";
    for item in ["struct S;", "pub(crate) const fn f() {}", "impl Machine {}", "type T = u8;"] {
        let text = format!("mod wire;\n{item}\n");
        assert_eq!(check_rooms(file, &text), [format!("{file}:2")], "{item}");
    }
    let text = "#[cfg(test)]\nmod tests;\n#[cfg(x)]\npub use self::wire::{Script, Script as S};\n";
    assert_eq!(check_rooms(file, text), [""; 0]);
}
