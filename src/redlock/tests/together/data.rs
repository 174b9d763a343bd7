//! Data that are no lock, at some of the masters.

use super::*;

/// What a read answers, and the question for the end, of a string without one, of one that ends,
/// and of data that are no string.
const ENDLESS: (&str, &str) = ("$8\r\nno token", ":-1");
const LONG_LIVED: (&str, &str) = ("$8\r\nno token", ":86400000");
const HASH: (&str, &str) = (NO_STRING, ":-1");

/// Returns for how long nobody has the resource before each of those who wait, in the order of
/// their grants. The first owner keeps the lock for a while, the others for no time.
fn free_times(mut together: Together, held: Duration) -> Vec<Duration> {
    let waiters = together.engines.len() - 1;
    let (mut owner, mut lock) = together.all_ask();
    assert!(together.pass(held).is_empty(), "nobody else has the lock meanwhile");
    let mut times = Vec::new();
    for _ in 0..waiters {
        let since = together.now;
        together.release(owner, lock);
        (owner, lock) = together.next();
        times.push(together.now - since);
    }
    times
}

/// Returns the longest of these times with such data at any two of five masters.
fn longest(data: Option<(&'static str, &'static str)>, waiters: usize) -> Duration {
    longest_where(true, data, waiters)
}

/// The same at masters that tell what happens to keys, or do not. The first owner keeps the lock
/// for hardly longer than it takes all to ask, or long enough for all to listen.
fn longest_where(
    tells: bool,
    data: Option<(&'static str, &'static str)>,
    waiters: usize,
) -> Duration {
    let pairs = (0..5).flat_map(|first| (first + 1..5).map(move |second| [first, second]));
    let longest = pairs.flat_map(|pair| {
        [ms(50), ms(6_000)].into_iter().flat_map(move |held| {
            let mut together = Together::new_telling(waiters + 1, 0, tells);
            pair.iter().for_each(|master| together.keys[*master].data = data);
            free_times(together, held)
        })
    });
    let longest = longest.max().expect("somebody waits");
    println!("{tells}, {waiters} waiters, {data:?}: {longest:.1?}");
    longest
}

/// Whoever looks only there waits for an owner who never lets go. Such waits were up to 16 s. A
/// string without an end is found out when the same string has been there for 0.4 s, at one node
/// and then at the other.
#[test]
fn data_at_two_of_five_nodes_keep_nobody_waiting() {
    for waiters in [1, 2, 10] {
        assert!(longest(None, waiters) <= ms(100));
        assert!(longest(Some(HASH), waiters) <= ms(100));
        assert!(longest(Some(ENDLESS), waiters) <= ms(900));
    }
}

/// Such data are like the token of an owner. Who listens there reads other nodes after three
/// seconds at the latest, once more if the first of those has such data too.
#[test]
fn data_that_look_like_a_lock_keep_nobody_waiting_for_longer_than_two_peeks_take() {
    for waiters in [1, 2, 10] {
        assert!(longest(Some(LONG_LIVED), waiters) <= ms(6_500));
    }
}

/// Without news from the nodes there are looks alone, and more of them.
#[test]
fn data_at_nodes_that_tell_nothing_keep_nobody_waiting_for_ever() {
    for waiters in [1, 2, 10] {
        assert!(longest_where(false, None, waiters) <= ms(200));
        assert!(longest_where(false, Some(HASH), waiters) <= ms(300));
        assert!(longest_where(false, Some(ENDLESS), waiters) <= ms(1_000));
        assert!(longest_where(false, Some(LONG_LIVED), waiters) <= ms(8_000));
    }
}
