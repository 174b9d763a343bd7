//! The end of a lock by its token, and what is left alone.

use std::thread;

use crate::holder::Held;
use crate::run::{hex, redbolt_with, unlock, who, who_json};
use crate::support::proxy::{Proxy, Rule, Way};
use crate::support::servers::Cluster;
use crate::support::until;
use crate::who::{MINUTE, OF_REDLOCK_PY, PATIENCE};

#[test]
fn the_right_token_ends_the_lock_and_its_holder_is_told() {
    let cluster = Cluster::start(5);
    let mut held = Held::on(&cluster.addrs());
    assert!(until(PATIENCE, || who_json(&cluster.addrs(), "r")["values"][0]["nodes"] == 5));
    let token = who_json(&cluster.addrs(), "r")["holder"]["token"].take();
    assert_eq!(token, held.token);
    let outcome = unlock(&cluster.addrs(), "r", token.as_str().expect("it is hex"));
    outcome.assert(0, &["the lock has ended: deleted on 5 of 5 nodes", "may go on until"]);
    let (code, err) = held.ended();
    assert_eq!(code, Some(76), "{err}");
    assert!(err.contains("is lost: no quorum has its value any more"), "{err}");
    who(&cluster.addrs(), &["r"]).assert(1, &["\"r\" is free"]);

    let outcome = unlock(&cluster.addrs(), "r", &held.token);
    outcome.assert(0, &["had ended before", "nothing was there"]);
}

#[test]
fn another_token_deletes_nothing() {
    let cluster = Cluster::start(5);
    let held = Held::on(&cluster.addrs());
    assert!(until(PATIENCE, || who_json(&cluster.addrs(), "r")["values"][0]["nodes"] == 5));
    let mut other = held.token.clone();
    other.replace_range(39.., if other.ends_with('0') { "1" } else { "0" });
    for token in [other.as_str(), &held.token[..38], &(held.token.clone() + "00"), "00"] {
        let outcome = unlock(&cluster.addrs(), "r", token);
        outcome.assert(75, &["nothing deleted: another value", "another value, left alone"]);
        assert!(!outcome.out.contains(token) && !outcome.err.contains(token) || token == "00");
    }
    assert_eq!(who_json(&cluster.addrs(), "r")["holder"]["token"], held.token);
    let (code, err) = held.end();
    assert_eq!(code, Some(0), "{err}");
}

#[test]
fn tokens_of_other_libraries_and_keys_without_a_ttl_can_be_unlocked() {
    let cluster = Cluster::start(3);
    let values: [&[u8]; 4] = [OF_REDLOCK_PY, b"x", b"\0\r\n\xff", &[b'z'; 1_024]];
    for value in values {
        for node in cluster.iter() {
            node.command(&[b"SET", b"r", value]);
        }
        let outcome = unlock(&cluster.addrs(), "r", &hex(value));
        outcome.assert(0, &["the lock has ended: deleted on 3 of 3 nodes"]);
        assert!(cluster.iter().all(|node| node.keys().is_empty()));
    }
}

#[test]
fn data_of_another_type_is_never_deleted() {
    let cluster = Cluster::start(3);
    for node in &cluster[..2] {
        node.command(&[b"RPUSH", b"r", b"x"]);
    }
    cluster[2].set_px(b"r", b"x", MINUTE);
    let outcome = unlock(&cluster.addrs(), "r", &hex(b"x"));
    outcome.assert(75, &["data of another type, left alone", "stands there (deleted on 1 of 3)"]);
    let left: Vec<_> = cluster.iter().map(|node| node.keys().len()).collect();
    assert_eq!(left, [1, 1, 0]);
}

#[test]
fn of_a_split_value_only_the_given_part_goes() {
    let cluster = Cluster::start(5);
    for (place, node) in cluster.iter().enumerate() {
        node.set_px(b"r", if place < 3 { b"first" } else { b"other" }, MINUTE);
    }
    let outcome = unlock(&cluster.addrs(), "r", &hex(b"first"));
    outcome.assert(0, &["deleted on 3 of 5 nodes", "another value, left alone"]);
    assert_eq!(cluster.holding(b"r", b"other"), 2);
    who(&cluster.addrs(), &["r"]).assert(1, &["is free, but some nodes"]);
}

#[test]
fn the_prefix_of_the_clients_stands_before_the_name() {
    let cluster = Cluster::start(3);
    for node in cluster.iter() {
        node.set_px(b"r", b"value", MINUTE);
        node.set_px(b"locks:r", b"value", MINUTE);
    }
    let arguments = ["--prefix", "locks:", "r", "--token", &hex(b"value")];
    crate::run::redbolt("unlock", &cluster.addrs(), &arguments).assert(0, &["has ended"]);
    assert!(cluster.iter().all(|node| node.keys() == [b"r".to_vec()]));
}

/// Were a node asked as soon as it is reached, an extension could give the lock back to this node
/// before the others are asked.
#[test]
fn no_node_is_asked_to_delete_before_all_are_reached() {
    let cluster = Cluster::start(3);
    let mut held = Held::on(&cluster.addrs());
    assert!(until(PATIENCE, || who_json(&cluster.addrs(), "r")["values"][0]["nodes"] == 3));
    let proxy = Proxy::start(&cluster[2].addr());
    proxy.set_all(Way::Requests, Rule::Hold);
    let addrs = [cluster[0].addr(), cluster[1].addr(), proxy.addr()];
    let infos = cluster[0].calls("info");
    let patience = ("REDBOLT_CONNECT_TIMEOUT", "60s");
    thread::scope(|scope| {
        let run = scope
            .spawn(|| redbolt_with("unlock", &addrs, patience, &["r", "--token", &held.token]));
        // The first node has said who it is, and then has had time for much else.
        assert!(until(PATIENCE, || cluster[0].calls("info") > infos));
        for _ in 0..200 {
            assert_eq!(cluster.holding(b"r", &token_of(&held)), 3);
        }
        proxy.set_all(Way::Requests, Rule::Pass);
        let outcome = run.join().expect("the run ends");
        outcome.assert(0, &["the lock has ended: deleted on 3 of 3 nodes"]);
    });
    let (code, err) = held.ended();
    assert_eq!(code, Some(76), "{err}");
}

/// The token as the nodes have it.
fn token_of(held: &Held) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&held.token[at..at + 2], 16).expect("it is hex");
    (0..held.token.len()).step_by(2).map(digit).collect()
}
