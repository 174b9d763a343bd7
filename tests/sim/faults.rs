//! Faults: everything that can go wrong in a world, and what does in which.

mod effects;

use crate::chance::Chance;
use crate::options::Outside;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// A connection breaks, and the bytes under way may be executed later.
    Reset,
    /// A connection dies at the master's end, and nobody tells the client.
    HalfOpen,
    /// Nothing passes on a connection for a while, in one direction or both.
    Clog,
    /// Nothing passes between a master and all clients.
    PartitionMaster,
    /// Nothing passes between a client and all masters.
    PartitionClient,
    /// A master stops and goes on.
    Stall,
    /// A master answers with errors.
    Mood,
    /// A master restarts without its memory.
    Crash,
    /// A master restarts and has its keys.
    Restart,
    /// A master's machine goes down without a word to its clients, and comes up without memory.
    PowerLoss,
    /// A master becomes a replica and then a master again.
    RoleChange,
    /// A replica that lacks the last writes takes a master's place.
    Failover,
    /// An empty spare that has run for long takes over the address of a master, for good.
    Spare,
    /// The address of a node moves to its other process, and with the next move comes back to the
    /// former one.
    Move,
    /// A process begins with an older file, in which no lock of today is and the witness is.
    Restore,
    /// A master restarts with the file that it wrote some time ago.
    OldFile,
    /// A master turns into a replica and back, and no connection breaks.
    RoundTrip,
    /// A master is told to evict keys when its memory is full.
    Policy,
    FlushScripts,
    /// A master refuses all scripts, or runs them again.
    Scripts,
    /// A master takes no connections.
    Refuse,
    /// A master's clock is set.
    Step,
    /// A clock runs at another rate.
    Rate,
    /// The wall clock of a client's machine is set, to anything.
    Wall,
    /// A client stops and goes on.
    Pause,
    /// A client's machine is suspended and resumed (FAULTS 37). The clock that stops in suspend
    /// stands still, the one that counts goes on.
    Suspend,
    /// A client's machine stops and goes on, and all its clocks stand still meanwhile: a hypervisor
    /// pauses, saves or moves the machine.
    Stop,
    /// A client crashes, or goes, and a new one takes its place.
    ClientCrash,
    /// The address of a node leads to another node's master.
    Misroute,
    /// A master that may evict keys evicts some.
    Evict,
    /// Somebody deletes all keys of a master, which tells its clients.
    Flush,
    /// A master loses keys and does not say so.
    Loss,
}

/// The kind of a world, which decides what can go wrong at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Usual,
    /// The name of a node moves from process to process and back.
    Moves,
    /// The machines of clients stop together with their clocks.
    Stops,
}

impl Fault {
    const ALWAYS_POSSIBLE: [Self; 26] = [
        Self::Reset,
        Self::HalfOpen,
        Self::Clog,
        Self::PartitionMaster,
        Self::PartitionClient,
        Self::Stall,
        Self::Mood,
        Self::Restart,
        Self::FlushScripts,
        Self::Refuse,
        Self::Rate,
        Self::Pause,
        Self::Suspend,
        Self::ClientCrash,
        Self::Misroute,
        Self::Evict,
        Self::Crash,
        Self::PowerLoss,
        Self::RoleChange,
        Self::Failover,
        Self::Spare,
        Self::Restore,
        Self::OldFile,
        Self::RoundTrip,
        Self::Policy,
        Self::Wall,
    ];

    /// What can happen while names move from process to process and back. A former member is told
    /// from an idle deployment by the word of the others, so they must be there to be asked.
    const WITH_MOVES: [Self; 8] = [
        Self::Move,
        Self::FlushScripts,
        Self::Rate,
        Self::Pause,
        Self::ClientCrash,
        Self::Evict,
        Self::Restore,
        Self::Wall,
    ];

    /// What can happen in a world in which clocks stand still. What a node tells of its clock must
    /// reach the client, so nodes that refuse to tell, or are not what they seem, are left to other
    /// worlds.
    const WITH_STOPS: [Self; 18] = [
        Self::Stop,
        Self::Reset,
        Self::HalfOpen,
        Self::Clog,
        Self::PartitionMaster,
        Self::PartitionClient,
        Self::Stall,
        Self::Restart,
        Self::Crash,
        Self::OldFile,
        Self::Spare,
        Self::FlushScripts,
        Self::Refuse,
        Self::Rate,
        Self::Pause,
        Self::Suspend,
        Self::ClientCrash,
        Self::Wall,
    ];

    /// Draws about half of the possible faults. Some of them are more frequent than others.
    pub(crate) fn draw(
        outside: Option<Outside>,
        steps: bool,
        flushes: bool,
        kind: Kind,
        chance: &mut Chance,
    ) -> Vec<Self> {
        let mut possible = match kind {
            Kind::Moves => Self::WITH_MOVES.to_vec(),
            Kind::Stops => Self::WITH_STOPS.to_vec(),
            Kind::Usual => Self::ALWAYS_POSSIBLE.to_vec(),
        };
        if steps || outside == Some(Outside::Steps) {
            possible.push(Self::Step);
        }
        if flushes {
            possible.push(Self::Flush);
        }
        possible.retain(|fault| matches!(fault, Self::Move | Self::Stop) || chance.one_in(2));
        if outside == Some(Outside::Losses) {
            possible.push(Self::Loss);
        }
        possible.iter().flat_map(|fault| vec![*fault; chance.index(3) + 1]).collect()
    }
}
