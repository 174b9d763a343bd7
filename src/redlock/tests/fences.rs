//! Fencing numbers (S13).

use super::*;

mod attempts;
mod fitness;
mod gathered;
mod held;
mod replies;
mod sets;

impl Rig {
    fn fenced_for(&mut self, resource: &str, wait: Duration) -> LockId {
        let options = AcquireOptions::new().fenced();
        let lock = self.redlock.acquire_with(self.now, &[resource], TTL, wait, &options);
        lock.expect("the request is in bounds")
    }

    fn fenced(&mut self, resource: &str) -> LockId {
        self.fenced_for(resource, NO_WAIT)
    }

    /// Lets the node answer with the number that is so much above the time, which is the first
    /// proposal.
    fn draw(&mut self, index: usize, above: u64) {
        self.sent(index);
        let number = micros(self.now) + above;
        self.reply(index, &format!(":{number}"));
    }

    /// Returns the fence in the one event, as so much above the time.
    #[track_caller]
    fn fence(&mut self) -> u64 {
        match self.event() {
            Event::Acquired { fence: Some(fence), lock, .. } => {
                assert_eq!(self.redlock.fence(lock), Some(fence));
                fence.get() - micros(self.now)
            }
            other => panic!("no fence: {other:?}"),
        }
    }

    #[track_caller]
    fn no_lock(&mut self) -> AcquireError {
        match self.event() {
            Event::AcquireFailed { error, .. } => error,
            other => panic!("{other:?}"),
        }
    }

    fn bar(&self, index: usize) -> Option<FenceBar> {
        self.redlock.node(self.now, node(index)).expect("the node is there").fence_bar
    }

    /// The call that takes the key `r` by the attempt with this serial.
    fn call(&self, serial: u64, above: u64) -> String {
        let number = micros(self.now) + above;
        format!("EVALSHA acquire-fenced 2 r redbolt:fence #{serial} 7893 {number} 10000")
    }

    fn raise(&self, serial: u64, above: u64) -> String {
        let number = micros(self.now) + above;
        format!("EVALSHA raise 2 r redbolt:fence #{serial} 7893 {number}")
    }
}
