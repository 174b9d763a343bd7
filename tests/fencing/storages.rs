//! Every storage of the example, empty.

use std::any::Any;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::fenced::bucket::Bucket;
use crate::fenced::file::FencedFile;
use crate::fenced::object::FencedObject;
use crate::fenced::postgres::{OneRow, SeveralRows};
use crate::fenced::psql::Psql;
use crate::fenced::redis_hash::RedisHash;
use crate::fenced::storage::Storage;
use crate::support::flavours::leave_out;
use crate::support::postgres::Postgres;
use crate::support::process::Folder;
use crate::support::servers::Node;

/// Runs a test on each storage that can be had here. A failing test shows the name of the storage.
pub(crate) fn on_each(test: impl Fn(&dyn Storage)) {
    for (name, opened) in [("a file", file()), ("an object", object()), ("Redis", redis())] {
        println!("on {name}");
        test(&*opened.storage);
    }
    let Some(schema) = psql() else { return };
    println!("on one row of PostgreSQL");
    test(&OneRow::create(schema).expect("the schema is new"));
    let Some(schema) = psql() else { return };
    println!("on several rows of PostgreSQL");
    test(&SeveralRows::create(schema).expect("the schema is new"));
}

/// A storage, and what has to live as long.
struct Opened {
    storage: Box<dyn Storage>,
    _beneath: Box<dyn Any>,
}

fn file() -> Opened {
    let folder = Folder::new();
    let storage = FencedFile::new(folder.path(), "order");
    Opened { storage: Box::new(storage), _beneath: Box::new(folder) }
}

fn object() -> Opened {
    // A few bytes, for as long as the tests run.
    let bucket = Box::leak(Box::new(Bucket::default()));
    Opened { storage: Box::new(FencedObject::new(bucket, "order")), _beneath: Box::new(()) }
}

fn redis() -> Opened {
    let node = Node::start();
    let storage = RedisHash::new(&format!("redis://{}", node.addr()), "order");
    Opened { storage: Box::new(storage.expect("an address")), _beneath: Box::new(node) }
}

/// Returns a schema of the test's own, which does not exist yet. Without a server, says so.
pub(crate) fn psql() -> Option<Psql> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let server = match Postgres::shared() {
        Ok(server) => server,
        Err(why) => {
            leave_out("PostgreSQL", why);
            return None;
        }
    };
    let mut psql = Psql::new(&format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed)));
    psql.variables = server.variables();
    Some(psql)
}
