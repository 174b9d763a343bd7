//! The rules about a single file.

use crate::rules::check;
use crate::source::Source;

/// The lines that are found fault with.
fn lines(path: &str, text: &str) -> Vec<usize> {
    check(&Source::new(path, text)).into_iter().map(|finding| finding.line).collect()
}

#[test]
fn a_line_of_101_columns_is_found() {
    let text = format!("// {}\n// {}\n", "ü".repeat(97), "ü".repeat(98));
    assert_eq!(lines("src/lib.rs", &text), [2]);
}

#[test]
fn a_function_of_71_lines_is_found() {
    let function =
        |lines: usize| format!("pub fn f(a: [u8; 4]) {{\n{}}}\n", "    g();\n".repeat(lines - 2));
    assert_eq!(lines("src/lib.rs", &function(70)), []);
    assert_eq!(lines("src/lib.rs", &function(71)), [1]);
    let braces = "    h(\"}\", '}', b'}', '\\'', r#\"}\"#); // }\n    /* } /* } */ */\n".repeat(35);
    assert_eq!(lines("src/lib.rs", &format!("{braces}fn f<'a>() {{\n{braces}}}\n")), [71]);
}

#[test]
fn functions_without_a_body_end_at_once() {
    let declarations = "    fn f(&self) -> fn(u8);\n".repeat(80);
    assert_eq!(lines("src/lib.rs", &format!("trait T {{\n{declarations}}}\n")), []);
}

#[test]
fn a_file_of_the_core_of_401_lines_is_found() {
    let text = |lines: usize| "use a::b;\n".repeat(lines);
    for file in ["src/time.rs", "src/resp/a.rs", "src/redlock/wire/a.rs"] {
        assert_eq!(lines(file, &text(400)), [], "{file}");
        assert_eq!(lines(file, &text(401)), [401], "{file}");
    }
    for file in ["src/engine.rs", "src/net/a.rs", "src/redlock/tests/a.rs", "tests/a.rs"] {
        assert_eq!(lines(file, &text(401)), [], "{file}");
    }
}

#[test]
fn a_folder_without_docs_is_found() {
    assert_eq!(lines("src/net/mod.rs", "use std::io;\n"), [1]);
    assert_eq!(lines("src/net/mod.rs", "//! Sockets.\n"), []);
    assert_eq!(lines("src/net/socket.rs", "use std::io;\n"), []);
}

#[test]
fn a_panic_without_a_reason_is_found() {
    assert_eq!(lines("src/a.rs", "let a = b.unwrap();\n"), [1]);
    assert_eq!(lines("src/a.rs", "let a = b.expect(\"// no comment\");\n"), [1]);
    assert_eq!(lines("src/a.rs", "/// Of something else.\nlet a = b.unwrap();\n"), [2]);
    assert_eq!(lines("src/a.rs", "// Of c.\nlet c = d;\nlet a = b.unwrap();\n"), [3]);
    assert_eq!(lines("src/a.rs", "let a = b\n    .c()\n    .unwrap();\n"), [3]);
}

#[test]
fn a_panic_with_a_reason_and_one_in_a_test_are_not() {
    assert_eq!(lines("src/a.rs", "let a = b.unwrap(); // b was set above\n"), []);
    assert_eq!(lines("src/a.rs", "// It was set.\nlet a = b.unwrap();\n"), []);
    assert_eq!(lines("src/a.rs", "// It was set.\nlet a = b\n    .c()\n    .unwrap();\n"), []);
    assert_eq!(lines("src/a.rs", "/// ```\n/// b.unwrap();\n/// ```\n"), []);
    assert_eq!(lines("src/a.rs", "#[cfg(test)]\nmod tests {\n    b.unwrap();\n}\n"), []);
    assert_eq!(lines("src/resp/tests.rs", "b.unwrap();\n"), []);
    assert_eq!(lines("tests/a.rs", "b.unwrap();\n"), []);
}

#[test]
fn unfinished_work_is_found() {
    assert_eq!(lines("src/a.rs", concat!("// FIX", "ME: later\n")), [1]);
    assert_eq!(lines("benches/a.rs", "todo!()\nunimplemented!()\ndbg!(a)\n"), [1, 2, 3]);
    assert_eq!(lines("tests/a.rs", "#[test]\n#[ignore = \"slow\"]\n#[ignore]\n"), [2, 3]);
    assert_eq!(lines("src/a.rs", "// todo!() and dbg!(a) in a comment\n"), []);
}

#[test]
fn what_the_core_must_not_know_is_found() {
    for bad in [
        "use std::time::Instant;",
        "use std::time::{Duration, SystemTime};",
        "use std::{fmt, time::{self, Duration}};",
        "use std::time::*;",
        "let t = std::time::Instant::now();",
        "use std::{\n    net::TcpStream};",
        "std::thread::spawn(f);",
        "use mio::Poll;",
        "fn f(p: &mio::Poll) {}",
        "use std::env;",
    ] {
        let last = bad.lines().count();
        assert_eq!(lines("src/redlock/a.rs", bad), [last], "{bad}");
        assert_eq!(lines("src/resp/a.rs", bad), [last], "{bad}");
        assert_eq!(lines("src/time.rs", bad), [last], "{bad}");
        assert_eq!(lines("src/net/a.rs", bad), [], "{bad}");
    }
}

#[test]
fn what_needs_the_standard_library_is_found() {
    for layer in ["resp", "time"] {
        let lines = |code| lines(&format!("src/{layer}/a.rs"), code);
        assert_eq!(lines("impl std::error::Error for A {}"), [1]);
        assert_eq!(lines("use std::{fmt, sync::Arc};\n"), [1]);
        assert_eq!(lines("use core::fmt;\nuse alloc::format;\n/// [`std::fmt`]\n"), []);
        assert_eq!(lines("#[cfg(test)]\nmod tests {\n    use std::fmt;\n}\n"), []);
    }
}

#[test]
fn what_the_core_may_know_is_not() {
    for good in [
        "use std::{fmt, time::Duration};\nuse crate::time::Instant;",
        "let d = std::time::Duration::from_millis(1);",
        "/// Not [`std::time::Instant`].\nlet s = \"std::net::TcpStream\";",
        "struct S { net: u8, time: Instant }",
        "match a { net::B => {} }",
    ] {
        assert_eq!(lines("src/redlock/a.rs", good), [], "{good}");
    }
    assert_eq!(lines("src/redlock/a.rs", "use std::sync::Arc;\n"), []);
    assert_eq!(lines("src/redlock/tests.rs", "use std::env;\n"), []);
    assert_eq!(lines("src/redlock/tests.rs", "use std::time::Instant;\n"), [1]);
}
