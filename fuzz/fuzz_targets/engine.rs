#![no_main]

#[path = "../src/threads.rs"]
mod threads;

libfuzzer_sys::fuzz_target!(|data: &[u8]| threads::with_threads_ended(|| redbolt_fuzz::engine(
    data
)));
