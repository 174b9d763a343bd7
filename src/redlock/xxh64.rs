//! XXH64, a published 64-bit hash, which every client computes alike.
//!
//! The order of nodes ([`order`](super::order)) is part of the protocol, so its hash must not
//! depend on a version of a library.

const PRIMES: [u64; 5] = [
    0x9e37_79b1_85eb_ca87,
    0xc2b2_ae3d_27d4_eb4f,
    0x1656_67b1_9e37_79f9,
    0x85eb_ca77_c2b2_ae63,
    0x27d4_eb2f_1656_67c5,
];

/// The bytes that four lanes take together.
const STRIPE: usize = 32;

/// Returns the hash of `bytes`.
pub(super) fn xxh64(bytes: &[u8], seed: u64) -> u64 {
    let (stripes, rest) = bytes.split_at(bytes.len() / STRIPE * STRIPE);
    let start =
        if stripes.is_empty() { seed.wrapping_add(PRIMES[4]) } else { merged(stripes, seed) };
    // A length on no machine takes more than 64 bits.
    finished(start.wrapping_add(bytes.len() as u64), rest)
}

/// Returns the hash of one number, as that of its eight bytes in little-endian order.
pub(super) fn xxh64_of_number(number: u64, seed: u64) -> u64 {
    let start = seed.wrapping_add(PRIMES[4]).wrapping_add(8);
    avalanche(with_number(start, number))
}

/// Runs four lanes over whole stripes, and returns what they become together.
fn merged(mut stripes: &[u8], seed: u64) -> u64 {
    let mut lanes = [
        seed.wrapping_add(PRIMES[0]).wrapping_add(PRIMES[1]),
        seed.wrapping_add(PRIMES[1]),
        seed,
        seed.wrapping_sub(PRIMES[0]),
    ];
    let mut turn = 0;
    while let Some((number, rest)) = stripes.split_first_chunk() {
        lanes[turn % 4] = round(lanes[turn % 4], u64::from_le_bytes(*number));
        (stripes, turn) = (rest, turn + 1);
    }
    let sum = lanes.iter().zip([1, 7, 12, 18]).map(|(lane, turn)| lane.rotate_left(turn));
    let sum = sum.fold(0_u64, u64::wrapping_add);
    lanes.iter().fold(sum, |hash, lane| {
        (hash ^ round(0, *lane)).wrapping_mul(PRIMES[0]).wrapping_add(PRIMES[3])
    })
}

/// Takes in the bytes behind the last whole stripe.
fn finished(mut hash: u64, mut rest: &[u8]) -> u64 {
    while let Some((number, behind)) = rest.split_first_chunk() {
        hash = with_number(hash, u64::from_le_bytes(*number));
        rest = behind;
    }
    if let Some((half, behind)) = rest.split_first_chunk() {
        let half = u64::from(u32::from_le_bytes(*half)).wrapping_mul(PRIMES[0]);
        hash = (hash ^ half).rotate_left(23).wrapping_mul(PRIMES[1]).wrapping_add(PRIMES[2]);
        rest = behind;
    }
    for byte in rest {
        let byte = u64::from(*byte).wrapping_mul(PRIMES[4]);
        hash = (hash ^ byte).rotate_left(11).wrapping_mul(PRIMES[0]);
    }
    avalanche(hash)
}

const fn round(lane: u64, number: u64) -> u64 {
    lane.wrapping_add(number.wrapping_mul(PRIMES[1])).rotate_left(31).wrapping_mul(PRIMES[0])
}

const fn with_number(hash: u64, number: u64) -> u64 {
    (hash ^ round(0, number)).rotate_left(27).wrapping_mul(PRIMES[0]).wrapping_add(PRIMES[3])
}

const fn avalanche(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 33)).wrapping_mul(PRIMES[1]);
    let hash = (hash ^ (hash >> 29)).wrapping_mul(PRIMES[2]);
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the reference implementation, for each way through the function.
    #[test]
    fn published_values() {
        let rows: [(&[u8], u64, u64); 10] = [
            (b"", 0, 0xef46_db37_51d8_e999),
            (b"a", 0, 0xd24e_c4f1_a98c_6e5b),
            (b"a", 20_141_025, 0x9fe3_ce22_1f1d_d34a),
            (b"abc", 0, 0x44bc_2cf5_ad77_0999),
            (b"123456789", 0, 0x8cb8_41db_40e6_ae83),
            (b"message digest", 0, 0x066e_d728_fcee_b3be),
            (b"10.0.0.1:6379", 0, 0x45dc_f35a_0e74_d3da),
            (b"12345678", 11, 0xa814_329b_469f_4f3c),
            (b"0123456789abcdefghijklmnopqrstuvwxyz", 0, 0x6919_6c1b_3af0_bff9),
            (&[b'x'; 100], 0, 0x92f0_de5a_88a3_c094),
        ];
        for (bytes, seed, hash) in rows {
            assert_eq!(xxh64(bytes, seed), hash, "{:?}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn a_number_is_hashed_as_its_bytes() {
        for (number, seed) in [(0, 0), (1, 12_739), (u64::MAX, 16_383), (0xef46_db37, 7)] {
            let expected = xxh64(&u64::to_le_bytes(number), seed);
            assert_eq!(xxh64_of_number(number, seed), expected, "{number}");
        }
    }
}
