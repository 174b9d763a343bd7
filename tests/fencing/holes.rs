//! Why a holder marks before it reads, and why an object has its number inside.

use crate::fence;
use crate::fenced::bucket::{Bucket, Condition};
use crate::fenced::storage::StorageError;
use crate::storages::on_each;

/// The hole. The older holder writes late, after the newer one has read and before it writes: each
/// comparison is right, and the text of the older holder is gone.
#[test]
fn without_a_mark_a_late_text_is_accepted_and_then_lost() {
    on_each(|storage| {
        storage.write(fence(1), "bread").expect("nobody is newer");
        let seen = storage.look().expect("it can be read");
        storage.write(fence(1), "bread milk").expect("nobody newer has written yet");
        storage.write(fence(2), &format!("{seen} eggs")).expect("nobody is newer");
        assert_eq!(storage.look().expect("it can be read"), "bread eggs");
    });
}

/// The same with a mark: the older holder learns that its text does not count.
#[test]
fn with_a_mark_a_late_text_is_refused_and_nothing_is_lost() {
    on_each(|storage| {
        storage.write(fence(1), "bread").expect("nobody is newer");
        let seen = storage.mark_and_read(fence(2)).expect("nobody is newer");
        assert!(matches!(storage.write(fence(1), "bread milk"), Err(StorageError::Late)));
        storage.write(fence(2), &format!("{seen} eggs")).expect("nobody is newer");
        assert_eq!(storage.look().expect("it can be read"), "bread eggs");
    });
}

/// The ETag of S3 is a hash of the bytes. A mark that leaves the bytes as they are is seen by
/// whoever reads, and not by the `If-Match` of a put that is on its way.
#[test]
fn a_mark_beside_the_bytes_does_not_stop_a_put_that_has_read_before() {
    let bucket = Bucket::default();
    let put = |text: &str, condition| bucket.put("order", text.to_owned(), &condition).is_ok();
    let etag = || bucket.get("order").expect("it is there").etag;
    assert!(put("bread", Condition::NoneMatch));
    let read_by_the_older = etag();
    // The newer holder marks by metadata: the same bytes once more.
    assert!(put("bread", Condition::Match(etag())));
    assert!(put("milk", Condition::Match(read_by_the_older)), "this is the hole");
    // A mark in the bytes closes it.
    let read_by_the_older = etag();
    assert!(put("2\nmilk", Condition::Match(etag())));
    assert!(!put("late", Condition::Match(read_by_the_older)));
}
