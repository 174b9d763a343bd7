//! The rules about arrows that go up.

use super::arrows;
use crate::{Finding, layers};

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
