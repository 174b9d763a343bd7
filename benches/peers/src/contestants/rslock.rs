//! rslock, used as its README shows.

use ::rslock::{Lock, LockManager};

use super::tasks::{self, Locker};
use crate::meter::Meter;
use crate::plan::{Outcome, Plan, TTL};

pub(crate) fn run(plan: &Plan) -> Outcome<Meter> {
    let urls = plan.nodes.iter().map(|node| format!("redis://{node}")).collect();
    // rslock connects with its first lock.
    tasks::run(plan, async || Ok(LockManager::new(urls)))
}

impl Locker for LockManager {
    type Lock = Lock;

    async fn acquire(&self, resource: &[u8]) -> Outcome<Lock> {
        Ok(self.lock(resource, TTL).await?)
    }

    async fn release(&self, lock: Lock) -> Outcome<()> {
        self.unlock(&lock).await;
        Ok(())
    }
}
