//! Circles of imports, whichever way the paths are written.

use super::arrows;
use crate::circles;

#[test]
fn files_that_import_each_other_are_found() {
    let tree = [
        ("src/redlock/mod.rs", "pub use self::attempt::Vote;\n"),
        ("src/redlock/attempt.rs", "\nuse super::lease::Compared;\npub enum Vote {}\n"),
        ("src/redlock/lease.rs", "fn f(x: super::attempt::Other) -> super::Vote {}\n"),
    ];
    let expected = "src/redlock/attempt.rs -> src/redlock/lease.rs -> src/redlock/attempt.rs\n    \
                    src/redlock/attempt.rs:2: super::lease::Compared\n    \
                    src/redlock/lease.rs:1: super::Vote\n    \
                    src/redlock/lease.rs:1: super::attempt::Other";
    assert_eq!(circles::check(&arrows(&tree)), [expected]);
}

#[test]
fn the_smallest_circles_come_first() {
    let found = circles::check(&arrows(&[
        ("src/lib.rs", "mod a;"),
        ("src/a.rs", "use super::b::B;"),
        ("src/b.rs", "use super::{c::C, z::Z};"),
        ("src/c.rs", "use super::a::A;"),
        ("src/y.rs", "use super::z::Z;"),
        ("src/z.rs", "use super::y::Y;\npub struct Z;"),
    ]));
    let chains: Vec<_> = found.iter().filter_map(|circle| circle.lines().next()).collect();
    let expected =
        ["src/y.rs -> src/z.rs -> src/y.rs", "src/a.rs -> src/b.rs -> src/c.rs -> src/a.rs"];
    assert_eq!(chains, expected);
}

#[test]
fn arrows_without_a_circle_are_no_finding() {
    let found = circles::check(&arrows(&[
        ("src/lib.rs", "mod a;\npub use self::a::A;\n"),
        ("src/a.rs", "use super::b::B;\nuse super::c::C;\npub struct A;\n"),
        (
            "src/b.rs",
            "use super::c::C;\npub struct B;\n#[cfg(test)]\nmod tests {\n    use crate::A;\n}",
        ),
        ("src/c.rs", "/// Unlike [`super::a::A`].\npub struct C;\n"),
        ("src/c/tests.rs", "use crate::A;\n"),
    ]));
    assert_eq!(found, [""; 0]);
}
