//! An in-process master.
