#![no_main]

// Not in the library: the tests of the crate, which have the library as a module, need no redis-rs.
#[path = "../src/redis_rs.rs"]
mod redis_rs;

libfuzzer_sys::fuzz_target!(|data: &[u8]| redis_rs::redis_rs(data));
