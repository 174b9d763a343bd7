//! Storage that refuses a holder who writes late. `FENCING.md` explains the statements.
//!
//! ```text
//! STORAGE=file cargo run --example fenced --features embedded
//! STORAGE=object cargo run --example fenced -- 127.0.0.1:7001,127.0.0.1:7002,127.0.0.1:7003 --new
//! STORAGE=redis REDIS_URL=redis://127.0.0.1 cargo run --example fenced --features embedded
//! STORAGE=postgres-row PGHOST=/run/postgresql cargo run --example fenced --features embedded
//! ```
//!
//! The arguments are the nodes of the lock. The storage, `STORAGE`, is something else:
//!
//! - `file`, the default: a file in the temporary directory;
//! - `object`: a double of an object store, inside this process;
//! - `redis`: a hash on the server of `REDIS_URL`;
//! - `postgres-row`, `postgres-rows`: one row, and several rows under one resource, in the database
//!   that the variables of `psql` name (`PGHOST`, `PGUSER`, `PGDATABASE`, …). The example makes a
//!   schema `redbolt_example` there, and drops the schema at the end.

pub(crate) mod bucket;
#[path = "../common/mod.rs"]
mod common;
pub(crate) mod file;
pub(crate) mod object;
pub(crate) mod postgres;
pub(crate) mod psql;
pub(crate) mod redis_hash;
pub(crate) mod storage;
pub(crate) mod story;

use std::error::Error;
use std::process::ExitCode;
use std::{env, fs, process};

use bucket::Bucket;
use file::FencedFile;
use object::FencedObject;
use postgres::{OneRow, SeveralRows};
use psql::Psql;
use redbolt::Config;
use redis_hash::RedisHash;

const USAGE: &str = "STORAGE is file, object, redis, postgres-row or postgres-rows";

fn main() -> ExitCode {
    let storage = env::var("STORAGE").unwrap_or_else(|_| "file".to_owned());
    common::run(|config| example(config, &storage))
}

fn example(config: Config, storage: &str) -> Result<(), Box<dyn Error>> {
    match storage {
        "file" => {
            let folder = env::temp_dir().join(format!("redbolt-example-{}", process::id()));
            fs::create_dir(&folder)?;
            let result = story::tell(config, &FencedFile::new(&folder, "order"));
            fs::remove_dir_all(folder)?;
            result
        }
        "object" => story::tell(config, &FencedObject::new(&Bucket::default(), "order")),
        "redis" => {
            let url = env::var("REDIS_URL").unwrap_or_else(|_| "redis://127.0.0.1:6379".into());
            let hash = RedisHash::new(&url, "redbolt-example:order")?;
            let result = story::tell(config, &hash);
            hash.delete()?;
            result
        }
        "postgres-row" => {
            let psql = Psql::new("redbolt_example");
            let result = story::tell(config, &OneRow::create(psql.clone())?);
            psql.drop_schema()?;
            result
        }
        "postgres-rows" => {
            let psql = Psql::new("redbolt_example");
            let result = story::tell(config, &SeveralRows::create(psql.clone())?);
            psql.drop_schema()?;
            result
        }
        _ => Err(USAGE.into()),
    }
}
