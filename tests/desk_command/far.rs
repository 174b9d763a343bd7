//! Operators whose masters are far away, with the default settings.

use crate::holder::Held;
use crate::run::{redbolt, unlock, who, who_json};
use crate::support::far::FarAway;
use crate::support::servers::Cluster;
use crate::support::until;
use crate::who::PATIENCE;

#[test]
fn every_command_works_on_masters_that_are_far_away() {
    for ways in [[15, 30, 75], [150; 3]] {
        let cluster = Cluster::start(3);
        let proxies = FarAway::start_all(&cluster.addrs(), &ways);
        let far: Vec<_> = proxies.iter().map(FarAway::addr).collect();
        redbolt("init", &far, &["--fresh"]).assert(0, &[]);
        redbolt("check", &far, &[]).assert(0, &["3 of 3 can vote"]);
        who(&far, &["r"]).assert(1, &["\"r\" is free"]);
        let mut held = Held::with(&far, &["--no-wait"]);
        assert!(until(PATIENCE, || who_json(&far, "r")["values"][0]["nodes"] == 3));
        let outcome = redbolt("exec", &far, &["--no-wait", "r", "--", "true"]);
        outcome.assert(75, &["\"r\" is held by another, for at most"]);
        let outcome = unlock(&far, "r", &held.token);
        outcome.assert(0, &["the lock has ended: deleted on 3 of 3 nodes"]);
        let (code, err) = held.ended();
        assert_eq!(code, Some(76), "{err}");
        let outcome = redbolt("exec", &far, &["-v", "--no-wait", "r", "--", "true"]);
        outcome.assert(0, &["released"]);
        assert!(!outcome.err.contains("not confirmed"), "{}", outcome.err);
    }
}

#[test]
fn a_ttl_that_is_too_short_for_the_distance_is_said_to_be() {
    let cluster = Cluster::start(3);
    let proxies = FarAway::start_all(&cluster.addrs(), &[75; 3]);
    let far: Vec<_> = proxies.iter().map(FarAway::addr).collect();
    redbolt("init", &far, &["--fresh"]).assert(0, &[]);
    let outcome = redbolt("exec", &far, &["--no-wait", "--ttl", "100ms", "r", "--", "true"]);
    outcome.assert(69, &["the nodes are too far away", "an attempt waits for 25ms at most"]);
    let outcome =
        redbolt("exec", &far, &["--no-wait", "--log=json", "--ttl=100ms", "r", "--", "true"]);
    outcome.assert(69, &["\"failure\":\"too_far\"", "\"limit_ms\":25", "\"round_trip_ms\":15"]);
}
