//! A holder that stands still amid a transaction, whose mark is not committed.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin};
use std::thread;

use crate::fenced::postgres::SeveralRows;
use crate::fenced::psql::Psql;
use crate::fenced::storage::Storage;
use crate::storages;
use crate::support::until;
use crate::{PATIENCE, fence};

/// Killed and waited for on `Drop`.
struct Session {
    psql: Child,
    input: ChildStdin,
    /// The process id of the other side.
    server: u32,
}

impl Session {
    /// Marks with the number of the first holder, writes, and commits nothing. From then on the
    /// server allows so much idleness; zero is no limit.
    fn open(psql: &Psql, limit: &str) -> Self {
        let mut psql = psql.command().spawn().expect("psql can be run");
        let mut input = psql.stdin.take().expect("a pipe");
        let first = fence(1);
        let script = format!(
            "BEGIN;
             CALL mark_fence('orders/42', {first});
             INSERT INTO items VALUES (42, 1, 'milk');
             SELECT pg_backend_pid()
             FROM set_config('idle_in_transaction_session_timeout', '{limit}', true);\n"
        );
        input.write_all(script.as_bytes()).expect("psql reads");
        let output = psql.stdout.as_mut().expect("a pipe");
        let line = BufReader::new(output).lines().next().expect("psql writes");
        let server = line.expect("it is text").parse().expect("a process id");
        Self { psql, input, server }
    }

    /// Sends the rest, and returns whether all of it has worked.
    fn finish(mut self, script: &str) -> bool {
        // A session that the server has ended reads nothing.
        _ = self.input.write_all(script.as_bytes());
        _ = self.input.write_all(b"\\quit\n");
        self.psql.wait().expect("it is ours").success()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Errors mean that it has ended.
        _ = self.psql.kill();
        _ = self.psql.wait();
    }
}

/// A client that is stopped is an idle client to the server. The server gives the new holder the
/// row with the mark once the time for idleness in a transaction is over.
#[test]
fn the_server_ends_a_transaction_that_stands_still_and_nothing_of_it_stays() {
    let Some(psql) = storages::psql() else { return };
    let storage = SeveralRows::create(psql.clone()).expect("the schema is new");
    let session = Session::open(&psql, "300ms");
    // Waits for the row with the mark, until the server gives up the first holder.
    assert_eq!(storage.mark_and_read(fence(2)).expect("nobody is newer"), "");
    storage.write(fence(2), "bread").expect("nobody is newer");
    // The first holder goes on.
    assert!(!session.finish("INSERT INTO items VALUES (42, 2, 'late'); COMMIT;\n"));
    assert_eq!(storage.look().expect("it can be read"), "bread");
}

/// The new holder waits for the end of a transaction that has marked before, and then reads what
/// the transaction has written: nothing falls between.
#[test]
fn a_mark_waits_for_the_transaction_of_an_older_holder_and_reads_its_rows() {
    let Some(psql) = storages::psql() else { return };
    let storage = SeveralRows::create(psql.clone()).expect("the schema is new");
    let session = Session::open(&psql, "0");
    let waiting = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE {} = ANY (pg_blocking_pids(pid));",
        session.server
    );
    let seen = thread::scope(|scope| {
        let newer = scope.spawn(|| storage.mark_and_read(fence(2)));
        let waits = || psql.run(&waiting, &[]).is_ok_and(|count| count == "1\n");
        assert!(until(PATIENCE, waits), "the newer holder does not wait");
        assert!(session.finish("COMMIT;\n"));
        newer.join().expect("no panic")
    });
    assert_eq!(seen.expect("nobody is newer"), "milk");
}
