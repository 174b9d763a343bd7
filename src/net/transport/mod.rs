//! What carries the bytes to a node: [`tcp`] or [`unix`], and TLS above.
//!
//! A [`Stream`] is a socket that never blocks, and a [`Session`] encrypts for one. Nothing above
//! this folder knows which kind a socket is, and nothing in this folder knows what the bytes mean.

mod failure;
mod stream;
mod tcp;
#[cfg(not(feature = "tls"))]
#[path = "no_tls.rs"]
mod tls;
#[cfg(feature = "tls")]
mod tls;
mod unix;

pub(super) use self::failure::Failure;
pub(super) use self::stream::{Stream, Target};
pub(super) use self::tls::{Session, Setup};
