#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| redbolt_fuzz::tls(data));
