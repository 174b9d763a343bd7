//! Listening at nodes that are far away.

use super::*;

/// A token of another engine for each number.
fn owner(number: usize) -> String {
    format!("$20\r\n{number:012}another.")
}

/// Creates five nodes that tell what happens to keys, 100 ms away.
fn far(seed: u64) -> Rig {
    far_with(seed, true, |_| ())
}

fn far_with(seed: u64, tracks: bool, change: fn(&mut RedlockConfig)) -> Rig {
    let mut rig = Rig::unconnected_seeded(5, seed, change);
    rig.masters.iter_mut().for_each(|master| master.tracks = tracks);
    for index in 0..5 {
        rig.open(index);
        rig.transmit(index);
        rig.now = rig.now + ms(100);
        rig.shake_hands(index);
    }
    rig.events();
    rig.opens_doors = false;
    if tracks {
        rig.ttl = None;
    }
    rig.acquire("r", LONG_WAIT);
    (0..5).for_each(|index| _ = rig.sent(index));
    rig.advance(ms(100));
    (0..5).for_each(|index| rig.reply(index, "$-1"));
    rig
}

#[test]
fn looks_behind_a_push_spread_over_no_more_than_a_usual_pause() {
    let after = (1..6).map(far_spread).collect::<Vec<_>>();
    assert!(after.iter().all(|after| *after <= ms(1_600)), "{after:?} after the push");
}

fn far_spread(seed: u64) -> Duration {
    let mut rig = far(seed);
    let mut listens = None;
    for number in 0..200 {
        let (door, opts_in) = rig.long_look();
        rig.now = rig.now + ms(100);
        rig.reply(door, &owner(number.min(70)));
        if opts_in {
            rig.reply(door, ":600000");
        }
        if opts_in && number > 72 {
            listens = Some(door);
            break;
        }
    }
    let door = listens.expect("somebody listens");
    rig.looks_after(door, &touched("r"))
}

/// An engine leaves the resource to others for two to four round trips.
#[test]
fn looks_at_far_nodes_come_within_four_round_trips_where_few_wait() {
    for seed in 1..6 {
        let mut rig = far_with(seed, false, |config| config.retry_max = ms(5));
        for number in 0..30 {
            let answered = rig.now;
            let door = rig.look("r");
            let pause = rig.now - answered;
            // The first pause is behind an attempt, which others may have kept from its votes.
            assert!(pause <= ms(400) || number == 0, "{pause:?} before look {number}");
            rig.now = rig.now + ms(100);
            rig.reply(door, &owner(0));
        }
    }
}

#[test]
fn far_away_too_only_a_token_that_stays_is_listened_for() {
    let mut rig = far(7);
    for number in 0..60 {
        let (door, opts_in) = rig.long_look();
        assert!(!opts_in, "each look has shown another owner, look {number}");
        rig.now = rig.now + ms(100);
        rig.reply(door, &owner(number));
    }
}
