//! The modules of `src`, and the arrows between files that follow from the paths in them.
//!
//! An arrow goes from the file that writes a path to the file that defines the item. On the way a
//! path passes through modules, `use`s and globs, so that a `mod.rs` which only declares and
//! re-exports is never at the end of an arrow. A file with items of its own is, whatever its name.
//! A name from outside the crate, or from a macro, counts as defined by the file whose `use` or
//! module the path reached last.
//!
//! The text alone decides, with three limits:
//!
//! - Method calls make no arrows, because a method is called without a path. The `impl` blocks of
//!   one type may lie in several files, whose methods call each other unseen.
//! - A `use` inside a function counts for the whole module.
//! - `#[path]` and `#[macro_use]` are not known.
//!
//! Test code makes no arrows, and no arrow ends at test code. Each folder of `src/bin` is a crate
//! with a root of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::ptr;

use super::paths::{Kind, Path, names};
use super::source::{Source, is_test};

/// The use of one file's item in another file.
#[derive(Debug)]
pub(crate) struct Arrow {
    pub(crate) from: String,
    /// The line of `from`, counted from 1.
    pub(crate) line: usize,
    /// The path in that line, as written.
    pub(crate) path: String,
    pub(crate) to: String,
}

/// All modules, by folder: `src/redlock` is `crate::redlock`, and `src` is `crate`.
#[derive(Default)]
pub(crate) struct Modules {
    modules: BTreeMap<String, Module>,
}

#[derive(Default)]
struct Module {
    file: String,
    items: BTreeSet<String>,
    paths: Vec<Path>,
}

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target<'t> {
    /// A module, by its key.
    Module(&'t str),
    /// An item, by its file.
    Item(&'t str),
}

/// The globs and `use`s that are being followed, each with the name that is looked for.
type Trail<'t> = Vec<(&'t Path, String)>;

impl Modules {
    /// Sources outside `src` are passed over.
    pub(crate) fn new(sources: &[Source]) -> Self {
        let mut all = Self::default();
        for source in sources.iter().filter(|source| source.path.starts_with("src/")) {
            let key = key(&source.path);
            let names = names(&source.code[..source.end_of_code()]);
            all.module(key, "", &source.path);
            for item in names.items {
                all.module(key, &item.module, &source.path).items.insert(item.name);
            }
            for path in names.paths {
                all.module(key, &path.module, &source.path).paths.push(path);
            }
        }
        all
    }

    /// The module of a file, or one inside the file.
    fn module(&mut self, key: &str, inner: &str, file: &str) -> &mut Module {
        let key = format!("{key}/{inner}");
        let module = self.modules.entry(key.trim_end_matches('/').to_owned()).or_default();
        file.clone_into(&mut module.file);
        module
    }

    /// Every use of an item of another file, in the order of files and lines.
    pub(crate) fn arrows(&self) -> Vec<Arrow> {
        let mut arrows = Vec::new();
        for (key, module) in self.modules.iter().filter(|(_, module)| !is_test(&module.file)) {
            for path in module.paths.iter().filter(|path| !self.is_imported(key, path)) {
                for target in self.resolve(key, &path.segments, &mut Trail::new()) {
                    let Target::Item(to) = target else { continue };
                    if to != module.file && !is_test(to) {
                        arrows.push(Arrow {
                            from: module.file.clone(),
                            line: path.line,
                            path: path.segments.join("::"),
                            to: to.to_owned(),
                        });
                    }
                }
            }
        }
        arrows.sort_by(|a, b| (&a.from, a.line, &a.path).cmp(&(&b.from, b.line, &b.path)));
        arrows
    }

    /// Whether a `use` has brought in the item with which a path begins: the `use` has the arrow.
    fn is_imported(&self, key: &str, path: &Path) -> bool {
        let first = &path.segments[..1];
        let is_use = |known: &Path| matches!(&known.kind, Kind::Use(name) if *name == first[0]);
        let is_module = || {
            let targets = self.resolve(key, first, &mut Trail::new());
            targets.iter().any(|target| target.module().is_some())
        };
        path.kind == Kind::Inline
            && self.modules[key].paths.iter().any(is_use)
            && (path.segments.len() == 1 || !is_module())
    }

    /// What a path stands for in the module `key`. Nothing, if the path leads out of the crate.
    fn resolve<'t>(
        &'t self,
        key: &'t str,
        path: &[String],
        trail: &mut Trail<'t>,
    ) -> Vec<Target<'t>> {
        let (start, anchors) = anchor(key, path);
        let mut targets = vec![Target::Module(start)];
        for (index, name) in path.iter().enumerate().skip(anchors) {
            let inside: Vec<_> = targets.iter().filter_map(Target::module).collect();
            // Behind an item come its variants and associated items.
            let Some(module) = inside.last() else { break };
            targets = inside.iter().flat_map(|key| self.look_up(key, name, trail)).collect();
            if targets.is_empty() {
                let is_external = index == 0;
                return if is_external { targets } else { self.item_of(module) };
            }
        }
        targets
    }

    /// What a single name stands for in the module `key`: a module, an item, or one of each.
    fn look_up<'t>(&'t self, key: &str, name: &str, trail: &mut Trail<'t>) -> Vec<Target<'t>> {
        let Some((key, module)) = self.modules.get_key_value(key) else { return Vec::new() };
        let mut targets = Vec::new();
        if let Some((child, _)) = self.modules.get_key_value(&format!("{key}/{name}")) {
            targets.push(Target::Module(child));
        }
        if module.items.contains(name) {
            targets.push(Target::Item(&module.file));
        }
        for path in &module.paths {
            if matches!(&path.kind, Kind::Use(alias) if alias == name) {
                targets.extend(self.follow(key, path, name, trail));
            }
        }
        // A module hides no function of the same name that comes in by a glob.
        if targets.iter().all(|target| target.module().is_some()) {
            for path in module.paths.iter().filter(|path| path.kind == Kind::Glob) {
                targets.extend(self.follow(key, path, name, trail));
            }
        }
        targets
    }

    /// What `name` stands for according to a `use` of the module `key`.
    fn follow<'t>(
        &'t self,
        key: &'t str,
        path: &'t Path,
        name: &str,
        trail: &mut Trail<'t>,
    ) -> Vec<Target<'t>> {
        if trail.iter().any(|(known, for_name)| ptr::eq(*known, path) && for_name == name) {
            return Vec::new();
        }
        trail.push((path, name.to_owned()));
        let mut targets = self.resolve(key, &path.segments, trail);
        if path.kind == Kind::Glob {
            let inside = targets.iter().filter_map(Target::module);
            targets = inside.flat_map(|key| self.look_up(key, name, trail)).collect();
        } else if targets.is_empty() {
            targets = self.item_of(key);
        }
        trail.pop();
        targets
    }

    /// An item of which no more is known than that the module `key` has it.
    fn item_of(&self, key: &str) -> Vec<Target<'_>> {
        self.modules.get(key).map(|module| Target::Item(&module.file)).into_iter().collect()
    }
}

impl<'t> Target<'t> {
    fn module(&self) -> Option<&'t str> {
        match self {
            Self::Module(key) => Some(key),
            Self::Item(_) => None,
        }
    }
}

/// The key of the module that a file is.
fn key(path: &str) -> &str {
    let key = path.strip_suffix(".rs").unwrap_or(path);
    ["/lib", "/main", "/mod"].iter().find_map(|file| key.strip_suffix(file)).unwrap_or(key)
}

/// Where a path starts, and how many of its segments say so.
fn anchor<'t>(key: &'t str, path: &[String]) -> (&'t str, usize) {
    let (mut start, mut anchors) = match path.first().map(String::as_str) {
        Some("crate") => (root(key), 1),
        Some("self") => (key, 1),
        _ => (key, 0),
    };
    while path.get(anchors).is_some_and(|segment| segment == "super") {
        start = start.rsplit_once('/').map_or(start, |(parent, _)| parent);
        anchors += 1;
    }
    (start, anchors)
}

/// The root of the crate to which a module belongs.
fn root(key: &str) -> &str {
    const BINARIES: &str = "src/bin/";
    match key.strip_prefix(BINARIES) {
        Some(rest) => &key[..BINARIES.len() + rest.find('/').unwrap_or(rest.len())],
        None => "src",
    }
}
