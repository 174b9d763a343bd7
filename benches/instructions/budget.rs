//! The committed budget: a file with one line for each measured operation.

use std::env;
use std::fmt::{self, Write};
use std::fs;
use std::process::Command;

use crate::callgrind;
use crate::work::{WORK, Work};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions/budget.txt");

const HEAD: &str = "\
# Instructions of the hot path, as callgrind counts them: for a reply that is read, and for a lock
# that is acquired and released over five nodes. `cargo bench --bench instructions` compares.
";

/// How far a count may be from the budget, as a fraction of the budget.
const MARGIN: f64 = 0.03;

#[derive(Debug)]
pub(crate) struct Budget {
    /// Everything beside the code that the counts depend on.
    pub(crate) machine: String,
    pub(crate) counts: Vec<(String, f64)>,
}

/// How a count compares with its budget.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    Over,
    Within,
    Under,
}

impl Budget {
    pub(crate) fn read() -> Self {
        let text = fs::read_to_string(FILE).unwrap_or_else(|error| panic!("{FILE}: {error}"));
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let machine = lines.next().unwrap_or_default().to_owned();
        let counts = lines.map(|line| {
            let (name, count) = line.split_once(' ').expect("a line is a name and a count");
            (name.to_owned(), count.trim().parse().expect("a count is a number"))
        });
        Self { machine, counts: counts.collect() }
    }

    /// Measures every operation on this machine.
    pub(crate) fn measure() -> Self {
        let count = |work: &Work| (work.name.to_owned(), callgrind::count(work));
        Self { machine: machine(), counts: WORK.iter().map(count).collect() }
    }

    pub(crate) fn write(&self) {
        let mut text = format!("{HEAD}{}\n", self.machine);
        for (name, count) in &self.counts {
            writeln!(text, "{name:<20} {count:>12.2}").expect("a string takes everything");
        }
        fs::write(FILE, &text).unwrap_or_else(|error| panic!("{FILE}: {error}"));
        print!("{text}");
    }

    pub(crate) fn of(&self, name: &str) -> Option<f64> {
        self.counts.iter().find(|(of, _)| of == name).map(|(_, count)| *count)
    }
}

/// Returns the compiler, the target, and whether `memchr` and the C library can choose AVX2.
fn machine() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().expect("the compiler can be run");
    let version = String::from_utf8_lossy(&output.stdout).into_owned();
    let field = |name| version.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("?");
    let extension = if has_avx2() { "avx2" } else { "no avx2" };
    format!("rustc {}, {}, {extension}", field("release: "), field("host: "))
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

impl Verdict {
    pub(crate) fn of(count: f64, budget: f64) -> Self {
        if count > budget * (1.0 + MARGIN) {
            Self::Over
        } else if count < budget * (1.0 - MARGIN) {
            Self::Under
        } else {
            Self::Within
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Over => "TOO MANY; make it cheaper, or say why it is worth it and --write",
            Self::Within => "ok",
            Self::Under => "fewer; keep the gain with --write",
        })
    }
}

pub(crate) fn check_verdicts() {
    let rows = [
        (103.0, Verdict::Within),
        (103.1, Verdict::Over),
        (97.0, Verdict::Within),
        (96.9, Verdict::Under),
    ];
    for (count, verdict) in rows {
        assert_eq!(Verdict::of(count, 100.0), verdict, "{count} of 100");
    }
    assert_eq!(Verdict::of(1.0, 0.0), Verdict::Over, "what has no budget has none left");
}
