//! Campaigns: one of all candidates leads, and the next one follows.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use redbolt::time::Instant;
use redbolt::{
    Campaign, Client, Leadership, LockError, LockErrorKind, LockNoticeKind, LostReason,
    RequestError, Who,
};

use crate::fixture::{Fixture, PATIENCE, TTL, config};
use crate::process::{Process, client_of_given_nodes};
use crate::support::servers::{Cluster, Node};
use crate::support::{now, until};

const LEAD: &str = "service/leader";

const SHORT: Duration = Duration::from_secs(3);

fn client(cluster: &Cluster) -> Client {
    let client = Client::new(config(cluster)).expect("a client can be made");
    client.ready_all(PATIENCE).blocking_wait().expect("the nodes are there");
    client
}

/// Stands for the lead in a thread. The thread ends when the candidate leads or has failed.
fn stand(campaign: Campaign) -> Receiver<Result<Leadership, LockError>> {
    let (tell, told) = channel();
    // The test may be over.
    thread::spawn(move || tell.send(campaign.blocking_elect()));
    told
}

/// Returns how often a door was looked at, on all nodes together: a candidate that waits does so.
fn looks(cluster: &Cluster) -> u64 {
    cluster.iter().map(|node| node.calls("getrange")).sum()
}

/// Waits until a candidate has looked for the leader more than once since `before`.
fn expect_tries(cluster: &Cluster, before: u64) {
    assert!(until(PATIENCE, || looks(cluster) > before + 2), "nobody tries");
}

#[test]
fn one_candidate_of_several_clients_leads_at_a_time() {
    const TERMS: usize = 20;
    let cluster = Cluster::start(3);
    let (leaders, terms) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for client in [client(&cluster), client(&cluster), client(&cluster)] {
            for _ in 0..2 {
                let (campaign, leaders, terms) = (client.campaign(LEAD).ttl(TTL), &leaders, &terms);
                scope.spawn(move || {
                    while terms.load(Ordering::SeqCst) < TERMS {
                        let leadership = campaign.blocking_elect().expect("nobody ends the wait");
                        assert_eq!(leaders.fetch_add(1, Ordering::SeqCst), 0, "two lead");
                        assert!(leadership.is_leader() && leadership.remaining() <= TTL);
                        terms.fetch_add(1, Ordering::SeqCst);
                        leaders.fetch_sub(1, Ordering::SeqCst);
                        leadership.resign().blocking_wait().expect("the client runs");
                    }
                });
            }
        }
    });
    assert!(until(PATIENCE, || cluster.iter().all(|node| node.keys().is_empty())));
}

/// One round trip for the release and one for the lock: nobody asks in vain.
#[test]
fn the_next_candidate_of_the_same_client_leads_after_one_request_to_each_node() {
    let fixture = Fixture::with(3, |config| config.redlock.tenure_gap = Duration::ZERO);
    fixture.client.ready_all(PATIENCE).blocking_wait().expect("the nodes are there");
    let campaign = fixture.client.campaign(LEAD).ttl(TTL);
    let first = campaign.blocking_elect().expect("nobody leads");
    // A lock whose token is known is not passed on.
    let _ = first.as_guard().token();
    assert!(until(PATIENCE, || fixture.standing(LEAD) == 3));
    let calls = || -> Vec<_> { fixture.cluster.iter().map(|node| node.calls("set")).collect() };
    let before = calls();
    let second = campaign.elect();
    // An answer comes after everything that was asked for before.
    fixture.client.counters().blocking_wait().expect("the client runs");
    first.resign().blocking_wait().expect("the client runs");
    let second = second.blocking_wait().expect("its turn has come");
    assert!(second.is_leader());
    let expected: Vec<_> = before.iter().map(|calls| calls + 1).collect();
    assert!(until(PATIENCE, || calls().iter().zip(&expected).all(|(now, most)| now >= most)));
    assert_eq!(calls(), expected);
    drop(second);
    fixture.expect_clean();
}

#[test]
fn a_candidate_of_another_client_leads_after_a_resignation_and_after_a_drop() {
    let fixture = Fixture::new(3);
    let other = client(&fixture.cluster);
    let (mut here, mut there) = (&fixture.client, &other);
    let mut leader = here.campaign(LEAD).ttl(TTL).blocking_elect().expect("nobody leads");
    for resigns in [true, false, true] {
        let before = looks(&fixture.cluster);
        let next = stand(there.campaign(LEAD).ttl(TTL));
        expect_tries(&fixture.cluster, before);
        assert!(next.try_recv().is_err() && leader.is_leader());
        let lost = leader.lost();
        if resigns {
            let report = leader.resign().blocking_wait().expect("the client runs");
            assert!(report.is_complete(), "{report}");
        } else {
            drop(leader);
        }
        assert_eq!(lost.blocking_wait().kind(), LockNoticeKind::Released);
        let next = next.recv_timeout(PATIENCE).expect("the ttl has not ended the lead");
        leader = next.expect("nobody else stands");
        (here, there) = (there, here);
    }
    assert_eq!(leader.resource(), LEAD.as_bytes());
    drop(leader);
    fixture.expect_clean();
}

/// What a majority that is paused or dead costs a leader, and who leads when it is back.
fn lose(end: impl Fn(&mut Node), mend: impl Fn(&mut Node)) {
    let mut fixture = Fixture::with(5, |config| config.redlock.node_timeout = None);
    let campaign = fixture.client.campaign(LEAD).ttl(SHORT).warn_before(SHORT / 2);
    let leader = campaign.blocking_elect().expect("nobody leads");
    assert!(until(PATIENCE, || fixture.standing(LEAD) == 5));
    (0..3).for_each(|index| end(&mut fixture.cluster[index]));
    let warning = leader.expiring().blocking_wait();
    assert_eq!(warning.kind(), LockNoticeKind::Expiring(LostReason::Expired));
    let valid_until = leader.valid_until();
    let notice = leader.lost().blocking_wait();
    assert_eq!(notice.kind(), LockNoticeKind::Lost(LostReason::Expired));
    assert!(!notice.is_planned() && notice.resource() == LEAD.as_bytes(), "{notice}");
    assert!(!leader.is_leader() && leader.remaining().is_zero());
    let late = Instant::from_nanos(now().as_nanos() as u64) - valid_until;
    assert!(late < Duration::from_secs(5), "told {late:?} after the end");
    let next = campaign.elect();
    (0..3).for_each(|index| mend(&mut fixture.cluster[index]));
    let next = next.blocking_wait().expect("the nodes are back");
    assert!(next.is_leader() && !leader.is_leader());
    drop((next, leader));
    fixture.expect_clean();
}

#[test]
fn a_leader_is_told_of_its_end_when_a_majority_is_paused() {
    lose(|node| node.stop(), |node| node.cont());
}

#[test]
fn a_leader_is_told_of_its_end_when_a_majority_has_died() {
    lose(Node::kill, Node::restart);
}

#[test]
fn a_term_ends_with_max_hold_as_planned_and_the_next_one_begins() {
    let fixture = Fixture::with(3, |config| config.redlock.max_hold = SHORT);
    let refused = fixture.client.campaign(LEAD).max_hold(2 * SHORT).blocking_elect();
    let too_long = RequestError::HoldTooLong { hold: 2 * SHORT, max: SHORT };
    let refused = refused.expect_err("longer than the client allows");
    assert_eq!(refused.kind(), &LockErrorKind::Request(too_long));
    // By default a term lasts as long as the client allows.
    let campaign = fixture.client.campaign(LEAD).ttl(SHORT / 2);
    let first = campaign.blocking_elect().expect("nobody leads");
    let end = first.lost().blocking_wait();
    assert_eq!(end.kind(), LockNoticeKind::Lost(LostReason::MaxHold));
    assert!(end.is_planned());
    let second = campaign.blocking_elect().expect("nobody else stands");
    drop((first, second));
    fixture.expect_clean();
}

#[test]
fn a_term_that_is_shorter_than_the_ttl_ends_in_time() {
    let fixture = Fixture::new(3);
    let (term, start) = (Duration::from_millis(300), now());
    let leader = fixture.client.campaign(LEAD).ttl(TTL).max_hold(term).blocking_elect();
    let leader = leader.expect("nobody leads");
    assert!(leader.remaining() <= term, "{:?}", leader.remaining());
    let end = leader.lost().blocking_wait();
    assert_eq!(end.kind(), LockNoticeKind::Lost(LostReason::MaxHold));
    assert!(now() - start < TTL);
    drop(leader);
    fixture.expect_clean();
}

#[test]
fn a_candidate_gives_up_when_its_wait_is_over_and_not_before() {
    let fixture = Fixture::with(3, |config| config.wait = Duration::from_millis(1));
    let leader = fixture.client.campaign(LEAD).ttl(TTL).blocking_elect().expect("nobody leads");
    let other = client(&fixture.cluster);
    for client in [&fixture.client, &other] {
        let short = client.campaign(LEAD).wait(Duration::from_millis(100));
        let error = short.blocking_elect().expect_err("another leads");
        assert!(error.is_contended(), "{error}");
    }
    // The wait of the client is that of its locks.
    let patient = stand(fixture.client.campaign(LEAD).ttl(TTL));
    let impatient = fixture.client.campaign(LEAD).wait(Duration::from_millis(100));
    assert!(impatient.blocking_elect().is_err());
    assert!(patient.try_recv().is_err(), "it has given up as well");
    drop(leader);
    let next = patient.recv_timeout(PATIENCE).expect("its turn has come").expect("it leads");
    drop(next);
    fixture.expect_clean();
}

#[test]
fn a_candidate_that_is_taken_back_leaves_no_key_behind() {
    let fixture = Fixture::new(3);
    let other = client(&fixture.cluster);
    for _ in 0..10 {
        // Whether it has been elected by then or not.
        drop(fixture.client.campaign(LEAD).ttl(TTL).elect());
    }
    fixture.expect_clean();
    let leader = fixture.client.campaign(LEAD).ttl(TTL).blocking_elect().expect("nobody leads");
    let in_line = fixture.client.campaign(LEAD).ttl(TTL).elect();
    let before = looks(&fixture.cluster);
    let elsewhere = other.campaign(LEAD).ttl(TTL).elect();
    expect_tries(&fixture.cluster, before);
    drop((in_line, elsewhere));
    let token = leader.as_guard().token();
    assert!(leader.is_leader());
    assert!(until(PATIENCE, || fixture.cluster.holding(LEAD.as_bytes(), token.as_bytes()) == 3));
    drop(leader);
    fixture.expect_clean();
    // Nobody stands any more who could take the lead now.
    for client in [&fixture.client, &other] {
        let counters = client.counters().blocking_wait().expect("the client runs");
        assert_eq!((counters.locks.held_now(), counters.locks.waiting_now()), (0, 0));
    }
    assert!(fixture.cluster.iter().all(|node| node.keys().is_empty()));
}

#[test]
fn everybody_can_ask_who_leads() {
    let fixture = Fixture::with(3, |config| config.redlock.label = b"billing".to_vec());
    let campaign = fixture.client.campaign(LEAD).ttl(TTL).fenced();
    let leader = campaign.blocking_elect().expect("nobody leads");
    assert!(leader.fence().is_some());
    let other = client(&fixture.cluster);
    let holder = other.query(LEAD).blocking_wait().expect("the client runs");
    assert_eq!(holder.token(), Some(leader.as_guard().token()));
    assert!(holder.is_quorum && holder.remaining <= TTL, "{holder}");
    let label = || {
        let report = Who::new(config(&fixture.cluster), [LEAD]).run().expect("it can be asked");
        let first = report.resources()[0].values.first();
        first.and_then(|value| value.client.clone())
    };
    assert!(until(PATIENCE, || label().is_some_and(|client| client.label == "billing")));
    assert_eq!(label().and_then(|client| client.process), Some(std::process::id()));
    drop(leader);
}

#[test]
fn a_campaign_can_be_awaited_again_and_again() {
    let fixture = Fixture::new(3);
    let campaign = fixture.client.campaign(LEAD).ttl(TTL);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let first = (&campaign).await.expect("nobody leads");
        let handover = first.into_guard().hand_over().await.expect("the client runs");
        let adopted = fixture.client.adopt(&handover.resources, handover.token).ttl(TTL);
        let adopted = adopted.wait(PATIENCE).await.expect("it was handed over");
        adopted.release().await.expect("the client runs");
        let second = campaign.await.expect("nobody leads");
        assert!(second.is_leader());
    });
    fixture.expect_clean();
}

/// The nodes forget a leader that nobody can ask any more.
#[test]
fn the_next_candidate_leads_one_ttl_after_the_death_of_a_leader() {
    let fixture = Fixture::new(3);
    let mut process = Process::run("campaign::leader_that_dies", &fixture.cluster);
    process.expect("leads");
    let before = looks(&fixture.cluster);
    let next = stand(fixture.client.campaign(LEAD).ttl(TTL));
    expect_tries(&fixture.cluster, before);
    assert!(next.try_recv().is_err());
    process.kill();
    let died = now();
    let next = next.recv_timeout(PATIENCE).expect("the ttl ends").expect("nobody else stands");
    let waited = now() - died;
    assert!(waited < SHORT + Duration::from_secs(3), "{waited:?}");
    drop(next);
    fixture.expect_clean();
}

/// What the other process does; nothing where it is run by itself.
#[test]
fn leader_that_dies() {
    let Some(client) = client_of_given_nodes() else { return };
    let leadership = client.campaign(LEAD).ttl(SHORT).blocking_elect().expect("nobody leads");
    println!("leads");
    leadership.lost().blocking_wait();
}
