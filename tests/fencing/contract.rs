//! What each storage does, call by call.

use redbolt::embedded::Cluster;

use crate::fence;
use crate::fenced::storage::StorageError;
use crate::fenced::story;
use crate::storages::on_each;

#[test]
fn an_older_holder_is_refused_once_a_newer_one_has_written() {
    on_each(|storage| {
        storage.write(fence(2), "new").expect("nobody is newer");
        assert!(matches!(storage.write(fence(1), "late"), Err(StorageError::Late)));
        assert!(matches!(storage.mark_and_read(fence(1)), Err(StorageError::Late)));
        assert_eq!(storage.look().expect("it can be read"), "new");
    });
}

#[test]
fn a_mark_alone_refuses_older_holders_and_changes_no_text() {
    on_each(|storage| {
        storage.write(fence(1), "old").expect("nobody is newer");
        assert_eq!(storage.mark_and_read(fence(2)).expect("nobody is newer"), "old");
        assert!(matches!(storage.write(fence(1), "late"), Err(StorageError::Late)));
        assert_eq!(storage.look().expect("it can be read"), "old");
    });
}

#[test]
fn the_same_holder_writes_as_often_as_it_likes() {
    on_each(|storage| {
        assert_eq!(storage.mark_and_read(fence(1)).expect("nobody is newer"), "");
        for text in ["one", "two", "two"] {
            storage.write(fence(1), text).expect("an equal number is the same holder");
        }
        assert_eq!(storage.mark_and_read(fence(1)).expect("nobody is newer"), "two");
    });
}

#[test]
fn numbers_are_compared_as_numbers_and_not_as_texts() {
    on_each(|storage| {
        let short = "4294967296".parse().expect("the least number");
        let long = "10000000000".parse().expect("a number");
        storage.write(short, "short").expect("nobody is newer");
        storage.write(long, "long").expect("no text is compared");
        assert!(matches!(storage.write(short, "late"), Err(StorageError::Late)));
        assert_eq!(storage.mark_and_read(long).expect("nobody is newer"), "long");
    });
}

/// The example from its beginning to its end, with locks on masters inside this process.
#[test]
fn a_holder_that_stood_still_is_refused_by_each_storage() {
    let cluster = Cluster::start(3).expect("masters start");
    on_each(|storage| story::tell(cluster.config(), storage).expect("the late text is refused"));
}
