//! A hash on a Redis server, with the text and the number as fields. The server is storage here,
//! and need not be one of the nodes of the lock.

use redbolt::Fence;
use redis::{Client, Connection, RedisError, cmd};

use super::storage::{Storage, StorageError};

/// Without a text, the script marks and reads. Numbers of Lua are exact up to 2⁵³, and so is every
/// fencing number. `not (a >= b)` refuses `nan` too, which `a < b` would take for the newest.
pub(crate) const SCRIPT: &str = "\
local stored = tonumber(redis.call('HGET', KEYS[1], 'fence') or 0)
if not (tonumber(ARGV[1]) >= stored) then return false end
redis.call('HSET', KEYS[1], 'fence', ARGV[1])
if ARGV[2] then redis.call('HSET', KEYS[1], 'text', ARGV[2]) end
return redis.call('HGET', KEYS[1], 'text') or ''
";

pub(crate) struct RedisHash {
    client: Client,
    key: String,
}

impl RedisHash {
    pub(crate) fn new(url: &str, key: &str) -> Result<Self, RedisError> {
        Ok(Self { client: Client::open(url)?, key: key.to_owned() })
    }

    pub(crate) fn delete(&self) -> Result<(), RedisError> {
        cmd("DEL").arg(&self.key).query(&mut self.client.get_connection()?)
    }

    fn connect(&self) -> Result<Connection, StorageError> {
        let address = self.client.get_connection_info().addr();
        let failed = |error| StorageError::failed(format_args!("REDIS_URL, {address}: {error}"));
        self.client.get_connection().map_err(failed)
    }

    fn run(&self, fence: Fence, text: Option<&str>) -> Result<String, StorageError> {
        let mut connection = self.connect()?;
        let mut call = cmd("EVAL");
        call.arg(SCRIPT).arg(1).arg(&self.key).arg(fence.get()).arg(text);
        call.query::<Option<String>>(&mut connection)?.ok_or(StorageError::Late)
    }
}

impl Storage for RedisHash {
    fn mark_and_read(&self, fence: Fence) -> Result<String, StorageError> {
        self.run(fence, None)
    }

    fn write(&self, fence: Fence, text: &str) -> Result<(), StorageError> {
        self.run(fence, Some(text)).map(|_| ())
    }

    fn look(&self) -> Result<String, StorageError> {
        let mut connection = self.connect()?;
        let text: Option<String> = cmd("HGET").arg(&self.key).arg("text").query(&mut connection)?;
        Ok(text.unwrap_or_default())
    }
}

impl From<RedisError> for StorageError {
    fn from(error: RedisError) -> Self {
        Self::failed(error)
    }
}
