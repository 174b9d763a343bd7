//! What a load has used up.

use crate::bench::run::Saturated;

/// A processor that is busy for so much of the time has no room: what arrives meanwhile waits.
const FULL_PERCENT: f64 = 90.0;

/// How busy everybody was. 100 is one processor.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Busy {
    /// The busiest thread of the load; `None` with a client, whose threads share the processors.
    pub(crate) client: Option<f64>,
    /// The busiest server.
    pub(crate) server: Option<f64>,
    /// All processors of this machine; 100 is all of them.
    pub(crate) machine: Option<f64>,
}

/// Returns the processor that had no room, if there is one. A server runs all commands on one
/// thread, and an engine all cycles, so that one busy processor is the end for both. Where both are
/// busy, the busier one counts. A machine without idle processors is the limit of all who share it,
/// even if nobody has a processor for itself.
pub(crate) fn full(busy: Busy) -> Option<Saturated> {
    let full = |percent: Option<f64>| percent.filter(|&percent| percent >= FULL_PERCENT);
    match (full(busy.server), full(busy.client)) {
        (Some(server), Some(client)) if client > server => Some(Saturated::ClientCpu),
        (Some(_), _) => Some(Saturated::ServersCpu),
        (None, Some(_)) => Some(Saturated::ClientCpu),
        (None, None) => full(busy.machine).map(|_| Saturated::MachineCpu),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_processor_is_the_limit() {
        let busy = |server, client, machine| Busy {
            server: Some(server),
            client: Some(client),
            machine: Some(machine),
        };
        let rows = [
            (busy(50.0, 40.0, 60.0), None),
            (busy(97.0, 40.0, 60.0), Some(Saturated::ServersCpu)),
            (busy(91.0, 99.0, 60.0), Some(Saturated::ClientCpu)),
            (busy(99.0, 91.0, 100.0), Some(Saturated::ServersCpu)),
            (busy(20.0, 95.0, 100.0), Some(Saturated::ClientCpu)),
            (busy(20.0, 80.0, 99.0), Some(Saturated::MachineCpu)),
            (Busy::default(), None),
        ];
        for (busy, expected) in rows {
            assert_eq!(full(busy), expected, "{busy:?}");
        }
    }
}
