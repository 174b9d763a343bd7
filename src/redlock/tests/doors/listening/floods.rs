//! Neither pushes nor ttls make anybody look in a loop, and nobody may be flooded.

use super::*;

#[test]
fn as_many_pushes_are_no_flood_as_were_asked_for() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let door = rig.listens(60_000);
    for _ in 0..3 {
        let (again, now) = (door, rig.now);
        let flood = format!("{}\r\n", touched("s")).repeat(1_000);
        rig.redlock.handle_received(now, node(again), flood.as_bytes());
        assert_eq!(rig.state(again), NodeState::Ready);
        rig.advance(ms(1_001));
    }
}

#[test]
fn a_ttl_of_zero_makes_no_hot_loop() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let door = rig.listens(0);
    let (since, mut looks) = (rig.now, 0);
    let mut asked = [0; 5];
    while rig.now - since < ms(1_000) {
        let (again, opts_in) = rig.look_or_knock();
        looks += 1;
        asked[again] += 1;
        rig.reply(again, &token(0));
        if opts_in {
            rig.reply(again, ":0");
        }
    }
    assert!(
        looks <= 60,
        "{looks} looks a second, at {asked:?}, door {door}, tells {}",
        rig.tells(door)
    );
}

#[test]
fn pushes_without_end_make_no_hot_loop() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let mut door = rig.listens(600_000);
    let (since, mut looks) = (rig.now, 0);
    while rig.now - since < ms(1_000) && looks < 5_000 {
        let bytes = format!("{}\r\n", touched("r"));
        rig.redlock.handle_received(rig.now, node(door), bytes.as_bytes());
        rig.run_actions();
        if rig.tells(door) {
            rig.knocks_in_vain();
        }
        let (again, opts_in) = rig.long_look();
        looks += 1;
        // The round trip.
        rig.advance(Duration::from_micros(100));
        rig.reply(again, &token(0));
        if opts_in {
            rig.reply(again, ":600000");
        }
        door = again;
    }
    assert!(looks <= 60, "{looks} looks in {:?}, {:?}", rig.now - since, rig.state(door));
}

#[test]
fn who_opts_in_for_one_key_again_and_again_allows_no_flood() {
    let mut rig = telling();
    rig.refused(Duration::from_secs(36_000));
    rig.listens(36_000_000);
    let since = rig.now;
    let mut opted = 0;
    while rig.now - since < Duration::from_secs(20_000) {
        let (again, opts_in) = rig.long_look();
        rig.reply(again, &token(0));
        if opts_in {
            opted += 1;
            rig.reply(again, ":36000000");
        }
    }
    let flood = format!("{}\r\n", touched("s")).repeat(1_500);
    for index in 0..5 {
        rig.redlock.handle_received(rig.now, node(index), flood.as_bytes());
        rig.run_actions();
    }
    let open: Vec<_> = (0..5).filter(|index| !rig.closed.contains(node(*index))).collect();
    assert_eq!(open, [0usize; 0], "{opted} times opted in for one key");
}
