use super::*;

fn holder(value: &[u8]) -> Holder {
    let none = NodeSet::EMPTY;
    let mut holder = Holder::without_value(none, none, none);
    holder.set_value(value);
    holder.holding = NodeSet::first(3);
    (holder.occupancy, holder.remaining) = (Occupancy::Held, Duration::MAX);
    holder
}

#[test]
fn a_shown_holder_tells_no_value_with_which_to_release() {
    for (value, expected) in [
        (&[0xab; 20][..], "abab…abab"),
        (b"0190-a-token-of-another-library", "0190-a-t…"),
        (b"\0a b\x1b[31m", "\\x00a b…"),
        (b"1", "…"),
    ] {
        let shown = holder(value);
        assert_eq!(shown.to_string(), format!("{expected} for ever (no ttl)"));
        let debug = format!("{shown:?}");
        assert!(debug.starts_with(&format!("Holder {{ value: {expected}, ")), "{debug}");
        assert_eq!(shown.value(), Some(value), "whoever asks gets the value");
    }
}

/// What is said of no, one or more nodes out of three or five, whose quorum is a majority.
#[test]
fn nobody_holds_a_resource_only_where_a_quorum_says_so() {
    use Occupancy::{Blocked, Free, Held, Unknown};
    // Nodes with the most frequent value, with others, with nothing, and without an answer.
    let rows = [
        ([3, 0, 0, 0], Held),
        ([2, 0, 0, 1], Held),
        ([0, 0, 3, 0], Free),
        ([0, 0, 2, 1], Free),
        ([1, 0, 2, 0], Free),
        ([0, 0, 0, 3], Unknown),
        ([0, 0, 1, 2], Unknown),
        ([1, 0, 1, 1], Unknown),
        ([1, 0, 0, 2], Unknown),
        ([0, 1, 1, 1], Unknown),
        ([0, 3, 0, 0], Blocked),
        ([0, 2, 0, 1], Blocked),
        ([1, 2, 0, 0], Blocked),
        ([1, 1, 1, 0], Blocked),
        ([3, 0, 2, 0], Held),
        ([2, 1, 2, 0], Blocked),
        ([2, 1, 1, 1], Unknown),
        ([1, 2, 1, 1], Blocked),
        ([1, 1, 1, 2], Unknown),
    ];
    for (counts, expected) in rows {
        let (mut next, total) = (0, counts.iter().sum());
        let [holding, others, free, unknown] = counts.map(|count: usize| {
            next += count;
            NodeSet::first(next).without(NodeSet::first(next - count))
        });
        let mut holder = Holder::without_value(free, others, unknown);
        holder.set_value(b"value");
        holder.holding = holding;
        holder.conclude(Quorum::new(total, total / 2 + 1).expect("a majority"));
        assert_eq!(holder.occupancy, expected, "{counts:?}");
        assert_eq!(holder.is_quorum, expected == Held, "{counts:?}");
    }
}

#[test]
fn a_shown_report_says_what_is_not_known() {
    let none = NodeSet::EMPTY;
    let three = Quorum::new(3, 2).expect("a majority");
    let (one, all) = (NodeSet::first(1), NodeSet::first(3));
    let show = |mut holder: Holder| {
        holder.conclude(three);
        holder.to_string()
    };
    assert_eq!(show(Holder::without_value(all, none, none)), "nobody");
    let silent = Holder::without_value(none, none, all);
    assert_eq!(show(silent), "unknown: no answer from {0, 1, 2}");
    let mut list = Holder::without_value(none, all, none);
    list.data = all;
    let text = "nobody, and the resource is not free; data that is not a lock at {0, 1, 2}";
    assert_eq!(show(list), text);
    let mut half = Holder::without_value(none, none, all.without(one));
    half.set_value(&[0xab; 20]);
    half.holding = one;
    let text = "unknown: no answer from {1, 2}; abab…abab without a quorum at {0}";
    assert_eq!(show(half), text);
}
