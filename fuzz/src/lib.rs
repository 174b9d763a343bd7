//! The work that the fuzz targets do with their bytes.
//!
//! Each target is a plain function that panics on a finding. So the committed corpora run through
//! the same code as an ordinary test on a stable compiler (`tests/corpus.rs`).

mod addresses;
mod commands;
mod differential;
mod engine;
mod handshake;
mod init;
mod lies;
mod machine;
mod parse;
mod questions;
mod roundtrip;
mod server;
mod split;
mod tree;

pub use self::addresses::addresses;
pub use self::differential::differential;
pub use self::engine::engine;
#[cfg(feature = "tls")]
pub use self::engine::tls;
pub use self::handshake::handshake;
pub use self::init::init;
pub use self::machine::core;
pub use self::parse::parse;
pub use self::roundtrip::roundtrip;
pub use self::server::server;
pub use self::split::split;
