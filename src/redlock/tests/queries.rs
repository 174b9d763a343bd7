//! Queries for the holder of a resource.

use super::*;

fn ask(rig: &mut Rig) -> QueryId {
    rig.redlock.query(rig.now, b"r").expect("the request is in bounds")
}

fn answer(event: Event) -> (QueryId, Holder) {
    let Event::Queried { query, holder, .. } = event else { panic!("{event:?}") };
    (query, *holder)
}

#[test]
fn the_answer_says_who_and_for_how_long_a_quorum_keeps_it() {
    let mut rig = Rig::new(3);
    let query = ask(&mut rig);
    let mine = "twenty bytes in all!";
    for (index, ttl) in [900, 700, 800].into_iter().enumerate() {
        assert_eq!(rig.sent(index), ["EVAL holder-text 1 r"]);
        rig.reply(index, &format!("*2\r\n$20\r\n{mine}\r\n:{ttl}"));
    }
    let (found, holder) = answer(rig.event());
    assert_eq!(found, query);
    assert_eq!(holder.token(), Some(Token::from_bytes(*b"twenty bytes in all!")));
    assert_eq!((holder.is_quorum, holder.remaining), (true, ms(800)));
    assert_eq!(holder.holding.len(), 3);
}

/// Whoever logs the answer wants to say what was asked.
#[test]
fn the_answer_repeats_the_resource_without_the_prefix() {
    let mut rig = Rig::with(3, |config| config.prefix = b"p:".to_vec());
    let query = ask(&mut rig);
    (0..3).for_each(|index| {
        rig.sent(index);
        rig.reply(index, "*2\r\n$-1\r\n:-2");
    });
    let event = rig.event();
    let Event::Queried { query: answered, resource, .. } = event else { panic!("{event:?}") };
    assert_eq!((answered, &resource[..]), (query, &b"r"[..]));
}

#[test]
fn nodes_that_disagree_are_told_apart() {
    let mut rig = Rig::new(5);
    ask(&mut rig);
    let replies = [
        "*2\r\n$1\r\na\r\n:900",
        "*2\r\n$1\r\na\r\n:-1",
        "*2\r\n$1\r\nb\r\n:900",
        "*2\r\n$-1\r\n:-2",
        NO_STRING,
    ];
    for (index, reply) in replies.into_iter().enumerate() {
        rig.sent(index);
        rig.reply(index, reply);
    }
    let (_, holder) = answer(rig.event());
    assert_eq!((holder.value(), holder.token()), (Some(&b"a"[..]), None));
    assert_eq!((holder.is_quorum, holder.remaining), (false, Duration::ZERO));
    assert_eq!((holder.holding, holder.others), (nodes([0, 1]), nodes([2, 4])));
    assert_eq!((holder.data, holder.occupancy), (nodes([4]), Occupancy::Blocked));
    assert_eq!((holder.free, holder.unknown), (nodes([3]), NodeSet::EMPTY));
}

#[test]
fn a_query_is_answered_in_time_by_the_nodes_that_are_there() {
    let mut rig = Rig::new(3);
    ask(&mut rig);
    rig.sent(0);
    rig.reply(0, "*2\r\n$-1\r\n:-2");
    rig.sent(1);
    rig.close(1);
    let start = rig.now;
    let (_, holder) = answer(rig.wait().remove(0));
    assert_eq!(rig.now - start, ms(50));
    assert_eq!((holder.free, holder.unknown), (nodes([0]), nodes([1, 2])));
    assert_eq!(holder.value(), None);
    // The late answer belongs to no query any more.
    rig.sent(2);
    rig.reply(2, "*2\r\n$-1\r\n:-2");
    assert_eq!(rig.events(), []);
}

#[test]
fn no_more_queries_are_taken_than_there_is_room_for() {
    let mut rig = Rig::new(1);
    for _ in 0..MAX_QUERIES {
        ask(&mut rig);
    }
    let refused = rig.redlock.query(rig.now, b"r");
    assert_eq!(refused, Err(RequestError::TooManyQueries));
    assert_eq!(rig.wait().len(), MAX_QUERIES);
    ask(&mut rig);
}

/// A right that is taken away from a session is noticed by the locks, or by the next connection.
#[test]
fn a_query_that_is_not_allowed_costs_no_node() {
    let mut rig = Rig::new(3);
    ask(&mut rig);
    for index in 0..3 {
        rig.sent(index);
        rig.reply(index, "-NOPERM User app has no permissions to run the 'eval' command");
    }
    assert_eq!([0, 1, 2].map(|index| rig.state(index)), [NodeState::Ready; 3]);
    let Event::Queried { holder, .. } = rig.event() else { panic!("no answer") };
    assert_eq!((holder.unknown.len(), holder.occupancy), (3, Occupancy::Unknown));
    assert_eq!(holder.to_string(), "unknown: no answer from {0, 1, 2}");
}

#[test]
fn nobody_is_said_only_if_a_quorum_of_nodes_says_so() {
    let nothing = "*2\r\n$-1\r\n:-2";
    let denied = "-ERR The user executing the script can't run this command or subcommand";
    let rows = [
        ([nothing, nothing, denied], Occupancy::Free),
        ([nothing, denied, denied], Occupancy::Unknown),
        ([nothing, "-LOADING it is", "-BUSY it is"], Occupancy::Unknown),
    ];
    for (replies, occupancy) in rows {
        let mut rig = Rig::new(3);
        ask(&mut rig);
        for (index, reply) in replies.into_iter().enumerate() {
            rig.sent(index);
            rig.reply(index, reply);
        }
        let (_, holder) = answer(rig.event());
        assert_eq!(holder.occupancy, occupancy, "{replies:?}: {holder}");
        assert_eq!(holder.to_string() == "nobody", occupancy == Occupancy::Free, "{holder}");
    }
}

#[test]
fn a_query_without_any_node_knows_nothing() {
    let mut rig = Rig::unconnected(3, |_| ());
    ask(&mut rig);
    let (_, holder) = answer(rig.wait().remove(0));
    assert_eq!(holder.occupancy, Occupancy::Unknown, "{holder}");
}

/// S11: such a node has nothing, and does not know whether it had.
#[test]
fn a_node_in_quarantine_does_not_say_that_a_resource_is_free() {
    let mut rig = Rig::new(3);
    for index in [1, 2] {
        rig.close(index);
        rig.masters[index].flush();
        rig.connect_as(index, 7 + index as u8, "");
        assert_eq!(rig.state(index), NodeState::Quarantined);
    }
    ask(&mut rig);
    for index in 0..3 {
        rig.sent(index);
        rig.reply(index, "*2\r\n$-1\r\n:-2");
    }
    let (_, holder) = answer(rig.event());
    assert_eq!((holder.free, holder.unknown), (nodes([0]), nodes([1, 2])));
    assert_eq!(holder.occupancy, Occupancy::Unknown);
}
