//! Scripts that a node has forgotten, or never lets in.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use redbolt::redlock::RELEASE;

use crate::owner::{Owner, PATIENCE};
use crate::support::fake::{Action, Fake, Request};
use crate::support::master::Master;
use crate::support::servers::Cluster;

/// FAULTS 39: each script goes by its text once and is known again from then on.
#[test]
fn a_flushed_script_is_brought_back_by_its_first_use() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    let lock = owner.hold("resource");
    cluster.iter().for_each(|node| _ = node.command(&[b"SCRIPT", b"FLUSH"]));
    for _ in 0..3 {
        owner.extend(lock);
        owner.extended();
        owner.all_answered();
    }
    let outcome = owner.let_go(lock);
    assert!(outcome.released.len() >= 2, "{outcome:?}");
    owner.all_answered();
    let second = owner.hold("resource");
    owner.let_go(second);
    owner.all_answered();
    for (node, (_, _, status)) in cluster.iter().zip(owner.engine.nodes()) {
        assert_eq!((node.calls("eval"), status.counters.errors), (2, 2), "once for each script");
    }
    owner.finish(cluster.iter());
}

/// FAULTS 40: whoever flushes without end costs a second request each time, and nothing else.
#[test]
fn scripts_flushed_in_a_loop_are_sent_at_most_once_more_per_request() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for node in cluster.iter() {
            let done = &done;
            let flush: [&[u8]; 3] = [b"SCRIPT", b"FLUSH", b"SYNC"];
            let mut connection = node.connect(PATIENCE).expect("the node accepts");
            // Once before the first round, whenever the thread begins.
            connection.command(&flush).expect("a reply");
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    connection.command(&flush).expect("a reply");
                }
            });
        }
        let _end = SetOnDrop(&done);
        for round in 0..100_u8 {
            let lock = owner.hold([round]);
            owner.extend(lock);
            owner.extended();
            let outcome = owner.let_go(lock);
            assert!(outcome.released.len() >= 2, "{outcome:?}");
        }
        owner.all_answered();
    });
    for (node, (_, _, status)) in cluster.iter().zip(owner.engine.nodes()) {
        let (errors, scripts) = (status.counters.errors, status.counters.scripts);
        assert!(errors > 0 && errors <= scripts, "{errors} errors for {scripts} scripts");
        // An extension that a release has overtaken is not put again.
        let evals = node.calls("eval");
        assert!(evals > 0 && evals <= errors, "{evals} EVALs for {errors} NOSCRIPTs");
        assert_eq!((status.counters.failures, status.cleanup), (0, 0));
    }
    owner.finish(cluster.iter());
}

/// Lets the threads end also when the test fails.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// FAULTS 40: a server, or a proxy before it, that never knows any script.
#[test]
fn a_node_that_knows_no_script_even_by_its_text_is_not_asked_in_a_loop() {
    let fake = Fake::after_handshake(Master::new(), |request| {
        Action::Reply(match request.name().as_str() {
            "SET" => b"+OK\r\n".to_vec(),
            _ => b"-NOSCRIPT No matching script. Please use EVAL.\r\n".to_vec(),
        })
    });
    let mut owner = Owner::of([fake.addr()]);
    let lock = owner.hold("resource");
    owner.release(lock);
    let outcome = owner.released();
    assert_eq!(outcome.unconfirmed.len(), 1, "{outcome:?}");
    let asked: Vec<_> = fake.requests().into_iter().filter(is_script).collect();
    assert_eq!(asked[0].name(), "EVALSHA");
    assert_eq!((asked[1].name(), asked[1].part(1)), ("EVAL".to_owned(), RELEASE.text.as_bytes()));
    // From here on it is the business of the cleanup, at growing intervals: 50 and 100 ms.
    let start = owner.engine.now();
    owner.poll_until("the cleanup", |owner| {
        owner.engine.now() >= start + Duration::from_millis(200)
    });
    let more = fake.requests().iter().filter(|request| is_script(request)).count();
    assert!(more <= 2 + 2 * 3, "{more} requests for one release");
    assert_eq!(owner.status(0).cleanup, 1, "it goes on until the ttl has passed");
}

fn is_script(request: &Request) -> bool {
    request.name().starts_with("EVAL")
}
