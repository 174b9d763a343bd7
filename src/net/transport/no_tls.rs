//! What stands in the place of TLS in a build without the feature `tls`: nothing can be made.
#![allow(clippy::needless_pass_by_ref_mut, reason = "the signatures are those of TLS")]

use std::io;

use super::failure::Failure;
use super::stream::Stream;
use crate::net::address::Address;
use crate::net::received::Received;
use crate::redlock::NodeError;

#[derive(Clone, Copy)]
pub(in crate::net) enum Setup {}

pub(in crate::net) enum Session {}

impl Setup {
    /// No address can ask for TLS.
    #[expect(clippy::unnecessary_wraps, reason = "with TLS, this can fail")]
    pub(in crate::net) fn read(_: &Address) -> Result<Option<Self>, Failure> {
        Ok(None)
    }
}

impl Session {
    pub(in crate::net) fn new(setup: &Setup) -> Result<Self, Failure> {
        match *setup {}
    }

    pub(in crate::net) fn shake(&mut self, _: &mut Stream) -> Result<bool, Failure> {
        match *self {}
    }

    pub(in crate::net) fn write(
        &mut self,
        _: &mut Stream,
        _: &[u8],
        _: &mut u64,
    ) -> io::Result<usize> {
        match *self {}
    }

    pub(in crate::net) fn flush(&mut self, _: &mut Stream, _: &mut u64) -> io::Result<bool> {
        match *self {}
    }

    pub(in crate::net) fn is_flushed(&self) -> bool {
        match *self {}
    }

    pub(in crate::net) fn read(
        &mut self,
        _: &mut Stream,
        _: &mut [u8],
    ) -> Result<Received, NodeError> {
        match *self {}
    }

    pub(in crate::net) fn last_words(&mut self, _: &mut Stream) -> Option<NodeError> {
        match *self {}
    }

    pub(in crate::net) fn ends(&self) -> [Option<u64>; 2] {
        match *self {}
    }
}
