//! However a path is written, the arrow ends where the item is defined.

/// The library around the file under test, `src/hall/a.rs`.
const TREE: [(&str, &str); 12] = [
    ("src/lib.rs", "mod hall;\npub mod low;\npub use self::low::{Low, deep::Deep as Public};\n"),
    ("src/low/mod.rs", "pub mod deep;\nmod low;\npub use self::low::*;\npub use std::fmt;\n"),
    ("src/low/low.rs", "pub struct Low;\nimpl Low {}\npub fn low() {}\n"),
    ("src/low/deep.rs", "pub enum Deep { One }\npub(crate) const DEEP: u8 = 1;\n"),
    ("src/hall/mod.rs", "mod a;\nmod b;\nmod c;\nmod own;\npub(super) use self::b::B as Bee;\n"),
    ("src/hall/b.rs", "pub(super) struct B;\npub(super) fn b() {}\n"),
    ("src/hall/c.rs", "pub use super::b::b as c;\npub static C: u8 = 1;\n"),
    ("src/hall/own/mod.rs", "mod part;\npub use self::part::Part;\npub struct Own;\n"),
    ("src/hall/own/part.rs", "use super::Own;\npub struct Part;\n"),
    ("src/hall/tests.rs", "pub(super) fn count() {}\nuse super::b::B;\n"),
    ("src/bin/tool/main.rs", "mod low;\nmod part;\nfn main() { part::run(low::Low); }\n"),
    ("src/bin/tool/part.rs", "use crate::low::Low;\npub fn run(_: Low) {}\n"),
];

const LOW: &str = "src/low/low.rs";
const DEEP: &str = "src/low/deep.rs";
const B: &str = "src/hall/b.rs";
const C: &str = "src/hall/c.rs";

/// The arrows of a whole tree: from, line, to.
fn arrows(tree: &[(&str, &str)]) -> Vec<(String, usize, String)> {
    super::arrows(tree).into_iter().map(|arrow| (arrow.from, arrow.line, arrow.to)).collect()
}

/// Where the arrows of `src/hall/a.rs` with this text end, with their lines.
fn ends(text: &str) -> Vec<(usize, String)> {
    let mut tree = TREE.to_vec();
    tree.push(("src/hall/a.rs", text));
    let arrows = arrows(&tree).into_iter();
    arrows.filter(|(from, ..)| from == "src/hall/a.rs").map(|(_, line, to)| (line, to)).collect()
}

#[track_caller]
fn check(text: &str, expected: &[(usize, &str)]) {
    let found = ends(text);
    let found: Vec<_> = found.iter().map(|(line, to)| (*line, to.as_str())).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn a_use_is_an_arrow_however_written() {
    check("use super::b::B;", &[(1, B)]);
    check("use crate::hall::b::B;", &[(1, B)]);
    check("pub use super::b::B;", &[(1, B)]);
    check("pub(crate) use super::b::B as Other;", &[(1, B)]);
    check("use super::b::B as _;", &[(1, B)]);
    check("use super::super::low::low;", &[(1, LOW)]);
    check("use self::super::b::B;", &[(1, B)]);
    check("fn f() {\n    use super::b::B;\n}", &[(2, B)]);
    check("use super::c::C;\nuse super::b::{B, b};", &[(1, C), (2, B), (2, B)]);
}

#[test]
fn a_tree_of_uses_is_an_arrow_per_leaf() {
    check("use super::{b::{self, B}, c::C};", &[(1, B), (1, C)]);
    check("use crate::{\n    hall::b::B,\n    low::Low,\n};", &[(2, B), (3, LOW)]);
    check("use super::{\n    b::B as X,\n    c::*,\n};\nfn f() { c() }", &[(2, B), (5, B)]);
}

#[test]
fn an_inline_path_is_an_arrow() {
    check("fn f(b: &super::b::B) {}", &[(1, B)]);
    check("struct S {\n    field: Option<super::b::B>,\n}", &[(2, B)]);
    check("fn f() { crate::hall::b::b::<u8>() }", &[(1, B)]);
    check("fn f() { g::<super::b::B>(&super::c::C) }", &[(1, B), (1, C)]);
    check("const X: [u8; 2] = [0..super::c::C];", &[(1, C)]);
    check("type T = <super::b::B as Iterator>::Item;", &[(1, B)]);
    check("fn f() { matches!(x, crate::low::deep::Deep::One) }", &[(1, DEEP)]);
}

#[test]
fn an_imported_module_leads_on_to_its_items() {
    check("use super::b;\nfn f() { b::b() }", &[(2, B)]);
    check("use super::b as other;\nfn f() { other::b() }", &[(2, B)]);
    check("use crate::low::{self, deep};\nfn f() { low::low(deep::DEEP) }", &[(2, DEEP), (2, LOW)]);
    check("use crate::low;\nfn f() {}", &[]);
}

#[test]
fn an_imported_item_has_one_arrow_wherever_used() {
    check("use super::b::B;\nfn f(b: B) { B::new(B) }", &[(1, B)]);
    check(
        "use crate::low::deep::Deep;\nuse Deep::One;\nfn f() { Deep::One }",
        &[(1, DEEP), (2, DEEP)],
    );
}

#[test]
fn re_exports_are_passed_through() {
    check("use super::Bee;", &[(1, B)]);
    check("use crate::hall::Bee;", &[(1, B)]);
    check("use super::c::c;", &[(1, B)]);
    check("use crate::{Low, Public};", &[(1, LOW), (1, DEEP)]);
    check("use crate::low::low;", &[(1, LOW)]);
    check("use super::own::Part;", &[(1, "src/hall/own/part.rs")]);
    check("use super::*;\nfn f(b: Bee) {}", &[(2, B)]);
}

#[test]
fn a_mod_rs_with_items_is_a_file_like_any_other() {
    check("use super::own::Own;", &[(1, "src/hall/own/mod.rs")]);
    let all = arrows(&TREE);
    for (from, line, to) in [
        ("src/hall/own/mod.rs", 2, "src/hall/own/part.rs"),
        ("src/hall/own/part.rs", 1, "src/hall/own/mod.rs"),
    ] {
        assert!(all.contains(&(from.to_owned(), line, to.to_owned())), "{all:?}");
    }
    assert!(!all.iter().any(|(.., to)| to == "src/hall/mod.rs" || to == "src/lib.rs"), "{all:?}");
}

#[test]
fn names_from_outside_or_from_a_macro_belong_to_the_file_reached_last() {
    check("use crate::low::fmt;", &[(1, "src/low/mod.rs")]);
    check("use super::b::made_by_a_macro;", &[(1, B)]);
    check("use std::fmt;\nuse b::B;\nfn f() { fmt::b(b::B, serde::b) }", &[]);
}

#[test]
fn an_inline_module_has_a_scope_of_its_own() {
    check("mod inner {\n    use super::super::b::B;\n}", &[(2, B)]);
    check("use super::b::B;\nmod inner {\n    use super::B;\n}", &[(1, B), (3, B)]);
    check("struct S;\nmod b {\n    pub struct B;\n    use super::S;\n}\nuse self::b::B;", &[]);
    check(
        "use self::low::low;\nmod low {\n    pub fn low() {}\n    pub fn other() { low() }\n}",
        &[],
    );
    check(
        "mod inner {\n    pub use crate::low::low;\n}\nfn f() { inner::low() }",
        &[(2, LOW), (4, LOW)],
    );
}

#[test]
fn what_is_no_path_is_no_arrow() {
    check("// super::b::B\n/// [`super::b::B`]\nconst S: &str = \"super::b::B\";", &[]);
    check("pub(in super::super) fn f(b: u8) { self.b.c() }", &[]);
    check("use super::*;\nfn f(x: u8) { x.Bee; x.b() }", &[]);
    check("fn f<'Bee>(x: impl Sized + use<'Bee>) {}", &[]);
}

#[test]
fn tests_make_no_arrows_and_have_none() {
    check("#[cfg(test)]\nmod tests {\n    use super::super::b::B;\n}", &[]);
    check("fn f() { super::tests::count() }", &[]);
    assert!(!arrows(&TREE).iter().any(|(from, ..)| from == "src/hall/tests.rs"));
}

#[test]
fn a_binary_has_a_root_of_its_own() {
    let mut tree = TREE.to_vec();
    tree.push(("src/bin/tool/low.rs", "pub struct Low;\nuse redbolt::Low as Other;\n"));
    let found: Vec<_> =
        arrows(&tree).into_iter().filter(|(from, ..)| from.starts_with("src/bin")).collect();
    let expected = [
        ("src/bin/tool/main.rs", 3, "src/bin/tool/low.rs"),
        ("src/bin/tool/main.rs", 3, "src/bin/tool/part.rs"),
        ("src/bin/tool/part.rs", 1, "src/bin/tool/low.rs"),
    ];
    assert_eq!(found, expected.map(|(from, line, to)| (from.to_owned(), line, to.to_owned())));
}
