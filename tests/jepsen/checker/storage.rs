//! The register: no older holder is let in behind a newer one, and no value is lost.
//!
//! Which of two holders is the newer one follows from what they believed, and not from their
//! numbers: that is what the numbers are for.

use std::collections::HashMap;

use super::book::Key;
use super::numbers::Number;
use crate::log::Deposit;

/// The state of the register for one resource, as its lines tell.
#[derive(Default)]
struct Shelf {
    /// The largest number that was let in.
    fence: u64,
    version: u64,
    /// The newest holder that was let in, and when its belief began.
    newest: Option<(u64, Key)>,
}

/// Returns in words what is wrong with the lines of the register.
pub(super) fn faults(deposits: &[Deposit], numbers: &[Number]) -> Vec<String> {
    let numbers =
        numbers.iter().map(|number| ((number.owner, number.fence, &number.resource[..]), number));
    let numbers: HashMap<_, _> = numbers.collect();
    let mut shelves: HashMap<&str, Shelf> = HashMap::new();
    let mut faults = Vec::new();
    for deposit in deposits {
        let shelf = shelves.entry(&deposit.resource).or_default();
        let owner = (deposit.client, deposit.request);
        let number = numbers.get(&(owner, deposit.fence, &deposit.resource[..]));
        if let Err(why) = shelf.enter(deposit, number.copied()) {
            faults.push(format!("{deposit}: {why}"));
        }
    }
    faults
}

impl Shelf {
    fn enter(&mut self, deposit: &Deposit, number: Option<&Number>) -> Result<(), String> {
        if deposit.is_accepted != (deposit.fence >= self.fence) {
            return Err(format!("the largest number was {}", self.fence));
        }
        if !deposit.is_accepted {
            return Ok(());
        }
        self.fence = deposit.fence;
        let version = self.version;
        self.version += u64::from(deposit.read.is_some());
        let Some(number) = number else {
            return Err("with a number that nobody gave it".to_owned());
        };
        let newest = self.newest;
        self.newest = newest.max(number.from.map(|from| (from, number.owner)));
        if let Some((_, newer)) = newest.filter(|(from, _)| number.until <= *from) {
            return Err(format!("let in behind {newer:?}, which held later"));
        }
        if deposit.read.is_some_and(|read| read != version) {
            return Err(format!("a value is lost: the version was {version}"));
        }
        Ok(())
    }
}
