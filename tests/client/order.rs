//! Waiters of one process for one resource.

use std::sync::Mutex;
use std::thread;

use crate::fixture::{Fixture, PATIENCE, TTL};

#[test]
fn waiters_are_served_in_the_order_in_which_they_came() {
    const WAITERS: usize = 100;
    let fixture = Fixture::new(3);
    let holder = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    let requests: Vec<_> =
        (0..WAITERS).map(|_| fixture.client.lock("a").ttl(TTL).wait(PATIENCE).acquire()).collect();
    let order = Mutex::new(Vec::new());
    drop(holder);
    thread::scope(|scope| {
        for (number, request) in requests.into_iter().enumerate() {
            let order = &order;
            scope.spawn(move || {
                let guard = request.blocking_wait().expect("everybody has a turn");
                order.lock().expect("nobody panics").push(number);
                drop(guard);
            });
        }
    });
    let order = order.into_inner().expect("nobody panics");
    assert_eq!(order, (0..WAITERS).collect::<Vec<_>>());
    fixture.expect_clean();
}
