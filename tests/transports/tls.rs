//! Nodes that speak TLS, alone and beside others.

use std::fs;
use std::time::Duration;

use redbolt::NodeState;
use redbolt::redlock::NodeError;

use super::relay::Relay;
use super::secure::{Secure, urls};
use super::{PATIENCE, TTL, assert_every_command_works, client, redbolt};
use crate::certificates::{Authority, Claim, LOCAL};
use crate::support::servers::Cluster;
use crate::support::until;
use crate::support::wire::Reply;

#[test]
fn every_command_works_over_tls() {
    let authority = Authority::new();
    let nodes = Secure::cluster(&authority, 3);
    assert_every_command_works(&urls(&nodes, &authority));
}

#[test]
fn every_command_works_where_one_node_has_tls_one_a_socket_and_one_neither() {
    let authority = Authority::new();
    let (plain, secure) = (Cluster::start(2), Secure::cluster(&authority, 1));
    let nodes = [plain[0].addr(), plain[1].unix(), secure[0].url(&authority)];
    assert_every_command_works(&nodes);
}

/// A name, a user of the access control list with the rights of OPERATING.md, a database, and a
/// certificate of ours, which the server wants.
#[test]
fn a_user_with_a_certificate_and_a_password_is_let_in() {
    let authority = Authority::new();
    let server = authority.sign("server", &LOCAL);
    let ours = authority.sign("ours", &Claim { names: &["app"], ..LOCAL });
    let node = Secure::start(&authority, &server, "yes");
    let rules = "ACL SETUSER app on >p@ss ~a ~redbolt:* +info +eval +evalsha +set +get +getrange \
                 +mget +exists +pttl +pexpire +del +time +select";
    let rules: Vec<_> = rules.split(' ').map(str::as_bytes).collect();
    node.node.command(&rules);
    let port = node.addr().rsplit(':').next().expect("a port").to_owned();
    let url = format!(
        "rediss://app:p%40ss@127.0.0.1:{port}/2?ca={}&cert={}&key={}&server_name=localhost",
        authority.ca(),
        ours.cert,
        ours.key
    );
    let client = client(&[url]);
    let guard = client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("it is free");
    let Reply::Bulk(list) = node.node.command(&[b"CLIENT", b"LIST"]) else {
        panic!("CLIENT LIST answers with a text")
    };
    let list = String::from_utf8_lossy(&list).into_owned();
    assert!(list.contains("user=app") && list.contains("db=2"), "{list}");
    drop(guard);
}

/// FAULTS 1: replies and records come in pieces of one byte each.
#[test]
fn records_that_come_byte_by_byte_are_put_together() {
    let authority = Authority::new();
    let nodes = Secure::cluster(&authority, 1);
    let relay = Relay::start(&nodes[0].addr(), Duration::ZERO);
    let client = client(&[format!("rediss://{}?ca={}", relay.addr(), authority.ca())]);
    for _ in 0..20 {
        let guard = client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
        assert!(nodes[0].node.get(b"a").is_some());
        guard.release().blocking_wait().expect("the client runs");
    }
}

/// More than the buffers of TLS take at once leaves in order, and nothing of it is lost.
#[test]
fn thousands_of_requests_at_once_go_through() {
    let authority = Authority::new();
    let nodes = Secure::cluster(&authority, 3);
    let client = client(&urls(&nodes, &authority));
    drop(client.lock("first").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("it is free"));
    let name = |number: usize| format!("{number:0>400}");
    let requests: Vec<_> = (0..3_000)
        .map(|number| client.lock(name(number)).ttl(TTL).wait(PATIENCE).acquire())
        .collect();
    let guards: Vec<_> = requests
        .into_iter()
        .map(|request| request.blocking_wait().expect("all are free"))
        .collect();
    assert_eq!(guards.len(), 3_000);
}

/// The server says that it ends the session, and the client comes back.
#[test]
fn a_session_that_the_server_ends_is_closed_and_a_new_one_follows() {
    let authority = Authority::new();
    let nodes = Secure::cluster(&authority, 1);
    let client = client(&urls(&nodes, &authority));
    let state = || client.nodes().blocking_wait().expect("the client runs").remove(0);
    assert!(until(PATIENCE, || state().state == NodeState::Ready), "{:?}", state());
    nodes[0].node.command(&[b"CLIENT", b"KILL", b"TYPE", b"normal"]);
    let is_back = || state().counters.connects == 2 && state().state == NodeState::Ready;
    assert!(until(PATIENCE, is_back), "{:?}", state());
    assert_eq!(state().counters.failures, 1);
}

/// The files are read again for each connection.
#[test]
fn certificates_are_rotated_under_a_running_client() {
    let (old, new) = (Authority::new(), Authority::new());
    let mut nodes = Secure::cluster(&old, 1);
    let client = client(&urls(&nodes, &old));
    let state = || client.nodes().blocking_wait().expect("the client runs").remove(0);
    assert!(until(PATIENCE, || state().state == NodeState::Ready), "{:?}", state());
    // The server gets a certificate of the other CA, in the same file.
    let identity = new.sign("server", &LOCAL);
    let place = old.sign("server", &LOCAL);
    fs::copy(&identity.cert, &place.cert).expect("the folder is ours");
    fs::copy(&identity.key, &place.key).expect("the folder is ours");
    nodes[0].node.restart();
    let is_refused = || matches!(state().error, Some(NodeError::Tls(_)));
    assert!(until(PATIENCE, is_refused), "{:?}", state());
    fs::copy(new.ca(), old.ca()).expect("the folder is ours");
    assert!(until(PATIENCE, || state().state == NodeState::Ready), "{:?}", state());
}

/// A certificate that ends soon is a note: that of the server, and ours.
#[test]
fn a_certificate_near_its_end_is_told_by_check() {
    let authority = Authority::new();
    let nodes = Secure::cluster(&authority, 3);
    let urls = urls(&nodes, &authority);
    redbolt(&urls, &["init", "--fresh"]).expect(0);
    let told = redbolt(&urls, &["check", "--json"]).expect(0).out;
    assert!(!told.contains("certificate"), "{told}");

    let soon = authority.sign("soon", &Claim { days: Some(9), ..LOCAL });
    let node = Secure::start(&authority, &soon, "optional");
    let url = format!("{}&cert={}&key={}", node.url(&authority), soon.cert, soon.key);
    redbolt(std::slice::from_ref(&url), &["init", "--fresh"]).expect(0);
    let told = redbolt(&[url], &["check", "--json"]).expect(0).out;
    let report: serde_json::Value = serde_json::from_str(&told).expect("one object");
    let findings = report["findings"].as_array().expect("a list");
    let of_certificates = findings.iter().filter(|finding| finding["subject"] == "certificate");
    let causes: Vec<_> = of_certificates.map(|finding| finding["cause"].to_string()).collect();
    assert_eq!(causes.len(), 2, "{told}");
    for (cause, whose) in causes.iter().zip(["the certificate of the server", "our certificate"]) {
        assert!(cause.contains(&format!("{whose} ends in 8 days")), "{cause}");
    }
}
