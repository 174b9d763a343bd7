//! TLS, by rustls, over a socket of this folder.
//!
//! [`setup`] reads the files, which may block and is not for the thread of the loop. [`session`]
//! encrypts and decrypts, and never blocks. [`cause`] says in the words of a node what went wrong,
//! and [`validity`] reads until when a certificate is valid.
//!
//! We send no `close_notify`: connections of ours end by a reset (S6), and a server knows by the
//! length of a command whether the command is whole.

mod cause;
mod session;
mod setup;
mod validity;

pub(in crate::net) use self::session::Session;
pub(in crate::net) use self::setup::Setup;
