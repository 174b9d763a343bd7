//! Storms in which all locks have fencing numbers: many clients, many resources, ttls of a few
//! round trips, and clocks that are not right, so that the numbers of the masters differ often.
//!
//! ```text
//! REDBOLT_JEPSEN_SECONDS=300 cargo test --release --test jepsen no_number -- --nocapture
//! REDBOLT_JEPSEN_SECONDS=300 REDBOLT_JEPSEN_SABOTEUR=FenceNotRaised \
//!     tests/saboteurs.sh without_the_second_trip -- --nocapture
//! ```

use std::time::Duration;

use redbolt::redlock::RestartGuard;

use crate::checker::Verdict;
use crate::fleet::{Fleet, Rules};
use crate::home::Files;
use crate::nemesis::Nemesis;
use crate::order::Habit;
use crate::report::Report;
use crate::storm::{STORM, calm};
use crate::support::now;

/// The longest run: the checker forgets nothing, and a minute of these storms has tens of thousands
/// of lines.
const LONGEST: Duration = Duration::from_secs(600);

/// A run of this length has writes that come late.
const LONG: Duration = Duration::from_secs(60);

/// FAULTS 17, 18, 20 to 24, 26, 31, 35, 36, 63: with kills, stops, slow links, and keys that end
/// while others are being asked for, no number comes twice, and all are in the order of holding.
#[test]
fn no_number_comes_twice_or_out_of_order() {
    rage("numbers", |report, fleet| report.check(&fleet.log));
}

/// The control: the same storm without the second trip, in which a client takes the largest number
/// that a node has drawn.
#[cfg(redbolt_sabotage)]
#[test]
fn without_the_second_trip_numbers_come_twice_and_out_of_order() {
    let saboteur = crate::sabotage::chosen();
    assert_eq!(saboteur, Some(redbolt::redlock::Saboteur::FenceNotRaised), "of the clients");
    let (mut twice, mut out_of_order, mut late) = (0, 0, 0);
    rage("without the second trip", |report, _| {
        let verdict = report.judge();
        (twice, out_of_order, late) = (verdict.twice, verdict.out_of_order, verdict.late_writes);
    });
    println!("{twice} numbers twice, {out_of_order} out of order, {late} writes refused");
    assert!(twice > 0 && out_of_order > 0, "{twice} twice, {out_of_order} out of order");
}

/// Lets the nemesis rage, and looks at the report after each storm.
fn rage(name: &str, mut look: impl FnMut(&mut Report, &Fleet)) {
    let rules = Rules {
        habit: Habit::Numbered,
        guard: RestartGuard::On,
        files: [Files::None, Files::Snapshot, Files::EveryWrite, Files::EverySecond, Files::None],
        step: Duration::ZERO,
        skew: Duration::from_millis(1_500),
        // The last one is so far ahead that it accepts nothing that the clients propose.
        ahead: [0, 5, 15, 35, 1_450],
        bodies: [5, 3],
        ..crate::rules()
    };
    // Printed with a failure.
    println!("{name}: REDBOLT_JEPSEN_SEED={}", rules.seed);
    let (mut fleet, start, long) = (Fleet::start(rules), now(), crate::share(1).min(LONGEST));
    let mut nemesis = Nemesis::new(rules.seed, &fleet);
    let mut report = Report::new(&fleet);
    let differed = |report: &mut Report| {
        let Verdict { raised, unaccepted, .. } = report.judge();
        raised + unaccepted > 0
    };
    // In a few seconds, of which some are spent in stops, few locks are granted. A storm in which
    // all masters drew the same shows nothing, and another one follows.
    while now() - start < long || (now() - start < 4 * long && !differed(&mut report)) {
        nemesis.rage(&mut fleet, STORM.min(long));
        calm(&mut fleet, &mut report);
        look(&mut report, &fleet);
    }
    fleet.finish();
    look(&mut report, &fleet);
    let (seconds, clients) = ((now() - start).as_secs(), rules.bodies.iter().sum::<usize>());
    println!("{name}: {seconds} s, {clients} clients, {}", report.summary(&nemesis.deeds));
    let is_enough = nemesis.deeds.are_enough(long, &rules, false);
    assert!(is_enough, "the nemesis has been idle: {}", nemesis.deeds);
    assert!(differed(&mut report), "the numbers of the nodes have never differed");
    let Verdict { late_writes, .. } = report.judge();
    assert!(*late_writes > 0 || long < LONG, "nobody came late to the register");
    fleet.remove_files();
}
