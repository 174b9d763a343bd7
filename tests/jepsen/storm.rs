//! Storms and calms: the nemesis rages for a while, then every client must be served. In some of
//! the calms a majority of the nodes stands still while all clients wait for the same lock, or a
//! minority is taken away, and all clients shut down.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::fleet::{Fleet, Rules};
use crate::log::nanos;
use crate::nemesis::Nemesis;
use crate::report::Report;
use crate::support::{now, until};

/// How long the nemesis rages before a calm in which every client can have a lock.
pub(crate) const STORM: Duration = Duration::from_secs(5);

/// The number of storms after which a majority stands still, and then a minority dies, while all
/// else is well: after the first, the fourth, …; and after which a former member comes back: after
/// the second, the fifth, ….
const TIDE: u32 = 3;

/// Lets the nemesis rage for so long, and fails the test if a rule is broken.
pub(crate) fn weather(name: &str, rules: Rules, long: Duration) {
    // Printed with a failure.
    println!("{name}: REDBOLT_JEPSEN_SEED={}", rules.seed);
    let mut fleet = Fleet::start(rules);
    let mut nemesis = Nemesis::new(rules.seed, &fleet);
    let mut report = Report::new(&fleet);
    let start = now();
    for storm in 1.. {
        if now() - start >= long {
            break;
        }
        Nemesis::renew_spares(&mut fleet);
        nemesis.rage(&mut fleet, STORM.min(long));
        calm(&mut fleet, &mut report);
        if storm % TIDE == 1 {
            nemesis.stall(&mut fleet);
            fleet.pass(rules.settles());
            nemesis.drain(&mut fleet);
        }
        if rules.has_spares && storm % TIDE == 2 {
            fleet.pass(rules.span());
            nemesis.bring_back(&mut fleet);
            calm(&mut fleet, &mut report);
            fleet.pass(rules.span());
        }
        report.check(&fleet.log);
    }
    fleet.finish();
    report.check(&fleet.log);
    let (seconds, clients) = ((now() - start).as_secs(), rules.bodies.iter().sum::<usize>());
    // Those that came last have had the least time.
    let [least, most] = report.shares(fleet.clients.iter().map(|client| client.number));
    let shares = format!("{clients} clients at the end with {least} to {most} grants each");
    println!("{name}: {seconds} s, {shares}, {}", report.summary(&nemesis.deeds));
    let is_enough = nemesis.deeds.are_enough(long, &rules, fleet.has_clocks());
    assert!(is_enough, "the nemesis has been idle: {}", nemesis.deeds);
    fleet.remove_files();
}

/// Checks that every client is granted a lock while nothing is wrong.
pub(crate) fn calm(fleet: &mut Fleet, report: &mut Report) {
    let (start, patience) = (nanos(), fleet.rules.served_within());
    let mut unserved: BTreeSet<_> = fleet.clients.iter().map(|client| client.number).collect();
    let all_served = until(patience, || {
        fleet.check_clients();
        report.served(start).for_each(|client| _ = unserved.remove(&client));
        unserved.is_empty()
    });
    let log = fleet.log.path().display();
    assert!(all_served, "{log}: all is well for {patience:?}, and these get nothing: {unserved:?}");
    fleet.log.nemesis(&format!("has let all clients be served within {} ms", {
        (nanos() - start) / 1_000_000
    }));
}
