//! What a lock costs in memory, shown at a million of them.
//!
//! The only test of its process, because it looks at the memory of the whole process.
#![cfg(target_os = "linux")]

#[path = "../benches/common/rig.rs"]
mod rig;

use std::fs;

use redbolt::redlock::{Event, RedlockConfig};
use rig::Rig;

const NODES: usize = 5;

/// How many locks are held, or on their way.
const LOCKS: usize = 1 << 20;

/// How many are asked for in one turn.
const PER_TURN: usize = 512;

/// Bytes per lock, everything included that grows with their number.
const MOST: usize = 400;

/// Less than this no lock can take: the bytes of its name. Who measures less measures nothing.
const LEAST: usize = 24;

#[test]
fn a_lock_needs_at_most_400_bytes() {
    // What one leaves to the allocator the other would find there: the larger goes first.
    check("in flight", in_flight);
    check("held", held);
}

fn check(what: &str, take: fn() -> Rig) {
    let before = resident();
    let rig = take();
    let each = (resident() - before) / LOCKS;
    assert_eq!(rig.core().in_use(), LOCKS);
    println!("a lock {what} takes {each} bytes");
    assert!((LEAST..=MOST).contains(&each), "a lock {what} takes {each} bytes");
}

/// A core that holds them all.
fn held() -> Rig {
    let mut config = RedlockConfig::default();
    config.max_locks = LOCKS;
    let mut rig = Rig::new(NODES, config);
    acquire(&mut rig, 0);
    let grant = rig.record();
    expect_acquired(&mut rig);
    for turn in 1..LOCKS / PER_TURN {
        acquire(&mut rig, turn);
        rig.replay(&grant);
        expect_acquired(&mut rig);
    }
    rig
}

/// A core that has asked for them all and heard of none.
fn in_flight() -> Rig {
    let mut config = RedlockConfig::default();
    config.max_locks = LOCKS;
    config.max_pipeline = LOCKS;
    let mut rig = Rig::new(NODES, config);
    for turn in 0..LOCKS / PER_TURN {
        acquire(&mut rig, turn);
        rig.send();
    }
    rig
}

fn acquire(rig: &mut Rig, turn: usize) {
    for number in 0..PER_TURN {
        let resource = format!("customers/{:014}", turn * PER_TURN + number);
        assert_eq!(resource.len(), LEAST);
        rig.acquire(resource.as_bytes());
    }
}

fn expect_acquired(rig: &mut Rig) {
    for _ in 0..PER_TURN {
        let event = rig.event();
        let Event::Acquired { lock, .. } = event else { panic!("{event:?}") };
        assert!(rig.core().is_held(rig.now(), lock));
    }
}

/// The bytes of this process that lie in memory.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kilobytes: usize = kilobytes.and_then(|text| text.parse().ok()).expect("in kilobytes");
    kilobytes * 1024
}
