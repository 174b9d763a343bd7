//! Locks with a fencing number.

use crate::json::number;
use crate::run::{run, text};

#[test]
fn a_run_with_numbers_tells_how_many_trips_they_took() {
    let shared = ["--seconds", "300ms", "--fenced", "--resources", "100"];
    let engine: &[&str] = &["--in-flight", "16"];
    let client: &[&str] = &["--client", "--threads", "4"];
    for kind in [engine, client] {
        // Standard error names the servers that were started.
        let (json, _) = text(run(&[&shared, kind, &["--json"]].concat()), 0);
        let cycles = number(&json, &["cycles"]);
        assert!(cycles > 0.0 && number(&json, &["failed"]) == 0.0, "{json}");
        assert!(number(&json, &["further_trips"]) >= 0.0, "{json}");
        let (table, _) = text(run(&[&shared[..], kind].concat()), 0);
        assert!(table.contains("\nfurther trips "), "{table}");
    }
}
