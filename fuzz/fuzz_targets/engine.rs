#![no_main]

use redbolt_fuzz::{engine, with_threads_ended};

libfuzzer_sys::fuzz_target!(|data: &[u8]| with_threads_ended(|| engine(data)));
