#![no_main]

use redbolt_fuzz::{tls, with_threads_ended};

libfuzzer_sys::fuzz_target!(|data: &[u8]| with_threads_ended(|| tls(data)));
