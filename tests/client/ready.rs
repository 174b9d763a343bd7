//! Waiting for the nodes before the first lock.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use redbolt::redlock::RestartGuard;
use redbolt::time::format_rounded;
use redbolt::{
    Client, ClientBuilder, ClientError, Config, ConnectError, NodeReport, NodeState, PendingAnswer,
    ReadyError,
};

use crate::fixture::{Fixture, PATIENCE, TTL, config, config_of, expect_all};
use crate::support::servers::Cluster;
use crate::support::{now, until};

/// A waker that tells by its end whether anybody has it.
struct Witness;

impl Wake for Witness {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn a_client_that_is_ready_gets_its_first_lock_in_one_attempt() {
    let cluster = Cluster::start(3);
    for threads in [1, 3] {
        let connect = || {
            let builder = ClientBuilder::from(config(&cluster)).threads(threads).ttl(TTL);
            let client = builder.blocking_connect(PATIENCE).expect("the servers are there");
            let nodes = client.nodes().blocking_wait().expect("the client lives");
            let ready = nodes.iter().filter(|node| node.is_ready()).count();
            assert!(ready >= 2, "{nodes:?}");
            (client, ready)
        };
        // On a busy machine, the third node may need more time than the quorum took.
        let mut client = connect();
        assert!(until(PATIENCE, || client.1 == 3 || {
            client = connect();
            false
        }));
        let (client, _) = client;
        for name in ["a", "b", "c", "d"] {
            drop(client.lock(name).blocking_try_acquire().expect("nobody else is there"));
        }
        assert!(client.blocking_shutdown(PATIENCE).is_complete());
    }
}

#[test]
fn a_minority_that_is_not_there_holds_nobody_up() {
    let mut cluster = Cluster::start(3);
    cluster[2].kill();
    let client = Client::new(config(&cluster)).expect("a client can be made");
    client.ready(PATIENCE).blocking_wait().expect("two of three are a quorum");
}

#[test]
fn nodes_that_are_not_there_are_named_with_their_reason() {
    let mut cluster = Cluster::start(3);
    cluster[1].kill();
    cluster[2].kill();
    let client = Client::new(config(&cluster)).expect("a client can be made");
    let nodes = || client.nodes().blocking_wait().expect("the client runs");
    assert!(until(PATIENCE, || nodes()[0].is_ready()));
    let start = now();
    let limit = Duration::from_millis(300);
    let error = client.ready(limit).blocking_wait().expect_err("one of three is no quorum");
    assert!(now() - start >= limit, "the nodes had their time");
    let ReadyError::NoQuorum { need, nodes } = &error else { panic!("{error}") };
    assert_eq!(*need, 2);
    let states: Vec<_> = nodes.iter().map(|node| node.is_ready()).collect();
    assert_eq!(states, [true, false, false]);
    let text = error.to_string();
    assert!(text.starts_with("no quorum: 1 of 3 nodes vote, 2 needed; "), "{text}");
    assert!(cluster.addrs().iter().all(|addr| text.contains(&addr.to_string())), "{text}");
    assert!(error.retry_after().is_none() && !text.contains("restart_guard"), "{text}");
}

/// S11: nodes that may have forgotten locks are waited for, as long as the caller wants.
#[test]
fn a_quarantine_is_waited_out() {
    let cluster = Cluster::start(3);
    let mut config = config(&cluster);
    config.redlock.restart_guard = RestartGuard::Strict;
    config.redlock.max_ttl = Duration::from_secs(2);
    config.redlock.node_timeout = Some(Duration::from_millis(200));
    let client = Client::new(config).expect("a client can be made");
    expect_all(&client, NodeState::Quarantined);
    let soon = client.ready(Duration::ZERO).blocking_wait();
    let Err(error) = soon else { panic!("{soon:?}") };
    let left = error.retry_after().expect("nothing but quarantine is in the way");
    let longest = Duration::from_millis(2_100);
    assert!(!left.is_zero() && left < longest, "{left:?}");
    let text = error.to_string();
    let hint = format!("; a quorum can vote in {}: wait for that long; ", format_rounded(left));
    assert!(text.contains(&hint) && text.contains("`redbolt init --fresh`"), "{text}");
    let ReadyError::NoQuorum { nodes, .. } = error else { panic!("{error:?}") };
    assert!(nodes.iter().any(|node| node.state == NodeState::Quarantined), "{nodes:?}");
    client.ready(PATIENCE).blocking_wait().expect("the quarantine ends");
}

#[test]
fn a_client_that_is_shut_down_is_never_ready() {
    let fixture = Fixture::new(1);
    fixture.client.ready(PATIENCE).blocking_wait().expect("the server is there");
    assert!(fixture.client.blocking_shutdown(PATIENCE).is_complete());
    let error = fixture.client.ready(PATIENCE).blocking_wait().expect_err("it is shut down");
    assert!(matches!(error, ReadyError::Client(_)), "{error}");
}

/// Each wait would keep 100 bytes for ever, and cost time in every turn of the thread.
#[test]
fn waits_that_nobody_waits_for_any_more_are_forgotten() {
    let client = Client::builder(["127.0.0.1:1"]).build().expect("a client can be made");
    let waker = Arc::new(Witness);
    let context = &mut Context::from_waker(Waker::noop());
    let kept = Arc::downgrade(&waker);
    let mut ready = client.ready(Duration::MAX);
    let own = Waker::from(Arc::clone(&waker));
    assert!(Pin::new(&mut ready).poll(&mut Context::from_waker(&own)).is_pending());
    drop((own, waker));
    assert!(kept.upgrade().is_some(), "the wait has the waker");
    drop(ready);
    // The thread has a turn for each of these.
    assert!(until(PATIENCE, || {
        let _ = Pin::new(&mut client.nodes()).poll(context);
        kept.upgrade().is_none()
    }));
}

type Question = PendingAnswer<Result<Vec<NodeReport>, ClientError>>;

/// Asks again whenever it is answered, on the client's thread, which so always finds a request.
struct Asking {
    client: Client,
    question: Mutex<Option<Question>>,
    is_over: AtomicBool,
}

impl Wake for Asking {
    fn wake(self: Arc<Self>) {
        if self.is_over.load(Ordering::Relaxed) {
            return;
        }
        let mut question = self.client.nodes();
        let waker = Waker::from(Arc::clone(&self));
        while Pin::new(&mut question).poll(&mut Context::from_waker(&waker)).is_ready() {
            question = self.client.nodes();
        }
        *self.question.lock().expect("no thread panics") = Some(question);
    }
}

#[test]
fn a_wait_ends_in_time_when_the_thread_is_never_idle() {
    let client = Client::builder(["127.0.0.1:1"]).build().expect("a client can be made");
    let asking = Asking { client: client.clone(), question: None.into(), is_over: false.into() };
    let asking = Arc::new(asking);
    Arc::clone(&asking).wake();
    let mut ready = client.ready(Duration::from_millis(1));
    let context = &mut Context::from_waker(Waker::noop());
    let is_answered = until(PATIENCE, || Pin::new(&mut ready).poll(context).is_ready());
    asking.is_over.store(true, Ordering::Relaxed);
    assert!(is_answered);
}

#[test]
fn a_result_is_returned_once() {
    let client = Client::builder(["127.0.0.1:1"]).build().expect("a client can be made");
    let context = &mut Context::from_waker(Waker::noop());
    let mut ready = client.ready(Duration::ZERO);
    assert!(until(PATIENCE, || Pin::new(&mut ready).poll(context).is_ready()));
    assert!(Pin::new(&mut ready).poll(context).is_pending(), "nobody is there");
    let mut shutdown = client.shutdown(Duration::ZERO);
    assert!(until(PATIENCE, || Pin::new(&mut shutdown).poll(context).is_ready()));
    assert!(Pin::new(&mut shutdown).poll(context).is_pending());
}

#[test]
fn what_cannot_be_a_client_says_why() {
    let error = |builder: ClientBuilder| {
        let error = builder.blocking_connect(PATIENCE).expect_err("no client");
        assert!(error.is_invalid() && !error.is_unavailable(), "{error}");
        assert_eq!(error.retry_after(), None);
        let ConnectError::Engine(error) = error else { panic!("{error}") };
        error.to_string()
    };
    let wrong = error(Client::builder(["redis://:secret@a b"]));
    assert!(wrong.contains("has a space in it") && !wrong.contains("secret"), "{wrong}");
    let none: [&str; 0] = [];
    assert!(error(Client::builder(none)).starts_with("0 nodes given"));
    let builder = Client::builder(["127.0.0.1:1"]).max_ttl(Duration::from_millis(1));
    assert!(error(builder).starts_with("max_ttl is 1ms"));
    assert!(error(Client::builder(["127.0.0.1:1"]).threads(65)).starts_with("threads is 65"));
    let with_ttl = |millis| {
        let ttl = Duration::from_millis(millis);
        error(Client::builder(["127.0.0.1:1"]).max_ttl(Duration::from_secs(10)).ttl(ttl))
    };
    assert_eq!(with_ttl(10_001), "the default ttl is 10.001s, between 10ms and 10s is possible");
    assert_eq!(with_ttl(9), "the default ttl is 9ms, between 10ms and 10s is possible");
    let polling = Client::builder(["127.0.0.1:1"])
        .configure(|config| config.busy_poll = Duration::from_secs(2));
    assert_eq!(error(polling), "busy_poll is 2s, between 0s and 1s is possible");
}

/// Somebody who connects again and again needs no look inside the error.
#[test]
fn a_client_that_could_not_connect_says_whether_and_when_to_try_again() {
    let mut cluster = Cluster::start(3);
    let mut config = config(&cluster);
    config.redlock.restart_guard = RestartGuard::Strict;
    let connect = |config| {
        let connecting = ClientBuilder::from(config).blocking_connect(Duration::from_millis(200));
        connecting.expect_err("no quorum")
    };
    let error = connect(config.clone());
    assert!(error.is_unavailable() && !error.is_invalid(), "{error}");
    // The same error, once the nodes are known.
    let client = Client::new(config.clone()).expect("a client can be made");
    expect_all(&client, NodeState::Quarantined);
    let error = client.ready(Duration::ZERO).blocking_wait().expect_err("no quorum");
    let error = ConnectError::Ready(error);
    assert!(error.retry_after().is_some_and(|pause| pause > Duration::from_secs(30)), "{error}");
    (0..2).for_each(|index| cluster[index].kill());
    let error = connect(config);
    assert!(error.is_unavailable() && !error.is_invalid(), "{error}");
    assert_eq!(error.retry_after(), None, "{error}");
}

/// A configuration that passes can be a client, and one that cannot is told the same.
#[test]
fn a_configuration_can_be_checked_before_there_is_a_client() {
    const SECOND: Duration = Duration::from_secs(1);
    let changes: [fn(&mut Config); 11] = [
        |_| (),
        |config| config.nodes.clear(),
        |config| config.nodes.push(config.nodes[0].clone()),
        |config| config.busy_poll = 2 * SECOND,
        |config| config.threads = 0,
        |config| config.threads = 65,
        |config| config.ttl = Some(61 * SECOND),
        |config| config.ttl = Some(Duration::ZERO),
        // Nothing is left of the 10 s that requests have which name no ttl.
        |config| config.redlock.drift.step = 20 * SECOND,
        |config| config.redlock.max_locks = 0,
        |config| config.redlock.quorum = Some(1),
    ];
    let mut passed = Vec::new();
    for (index, change) in changes.into_iter().enumerate() {
        let mut config =
            Config::new(["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"]).expect("addresses");
        change(&mut config);
        let checked = config.check().map(drop).map_err(|error| error.to_string());
        let built = Client::new(config).map(drop).map_err(|error| error.to_string());
        assert_eq!(checked, built, "{index}");
        passed.extend(checked.is_ok().then_some(index));
    }
    assert_eq!(passed, [0]);
    let four = Config::new(["a", "b", "c", "d"]).expect("names");
    assert_eq!(four.check().expect("the defaults are fine").need(), 3);
}

#[test]
fn requests_have_the_defaults_of_their_client() {
    let cluster = Cluster::start(3);
    let build = |wait| {
        let builder = ClientBuilder::from(config_of(cluster.addrs()));
        let builder = builder.ttl(Duration::from_secs(3)).wait(wait);
        builder.blocking_connect(PATIENCE).expect("the servers are there")
    };
    let (patient, hasty) = (build(PATIENCE), build(Duration::ZERO));
    let guard = patient.lock("a").blocking_acquire().expect("nobody has it");
    assert!(guard.remaining() <= Duration::from_secs(3), "{:?}", guard.remaining());
    let refused = hasty.lock("a").blocking_acquire().expect_err("one attempt finds it held");
    assert!(refused.is_contended(), "{refused}");
    let waiting = patient.lock("a").acquire();
    drop(guard);
    drop(waiting.blocking_wait().expect("the wait is long"));
}
