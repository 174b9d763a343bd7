//! The stripe of a key: its CRC16, cut to fourteen bits.
//!
//! Nodes keep one fencing number for each stripe (S13), a resource prefers nodes by its stripe, and
//! a client with several engines divides the resources by the stripes of their keys. The function
//! is part of the protocol: all clients must compute the same stripe for the same key.

/// The number of stripes.
pub(crate) const STRIPES: u16 = 1 << 14;

/// The polynomial of CRC16 (XMODEM), which Redis Cluster uses for its slots.
const POLYNOMIAL: u16 = 0x1021;

/// How many bytes make one step. The steps of single bytes would wait for each other.
const WIDTH: usize = 8;

/// What each value of a byte adds to the checksum, by the number of bytes behind it in its step.
const STEPS: [[u16; 256]; WIDTH] = steps();

/// The checksum of the bytes so far. A key that is in two parts, a prefix and a resource, needs no
/// copy: the second part goes on where the first has ended.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Checksum(u16);

impl Checksum {
    /// Returns the checksum with these bytes behind those before.
    pub(crate) fn with(self, bytes: &[u8]) -> Self {
        let mut chunks = bytes.chunks_exact(WIDTH);
        let crc = chunks.by_ref().fold(self.0, |crc, chunk| {
            // The checksum so far stands before the chunk, and so falls on its first two bytes.
            let [high, low] = crc.to_be_bytes();
            let carried = [high, low, 0, 0, 0, 0, 0, 0];
            let bytes = chunk.iter().zip(carried).map(|(byte, carried)| byte ^ carried);
            bytes.zip(STEPS.iter().rev()).fold(0, |sum, (byte, step)| sum ^ step[usize::from(byte)])
        });
        Self(
            chunks
                .remainder()
                .iter()
                .fold(crc, |crc, byte| (crc << 8) ^ STEPS[0][usize::from((crc >> 8) as u8 ^ byte)]),
        )
    }

    /// Returns the stripe of the key that these bytes are.
    pub(crate) const fn stripe(self) -> u16 {
        self.0 % STRIPES
    }
}

/// Returns the stripe of a key.
pub(crate) fn stripe(key: &[u8]) -> u16 {
    Checksum::default().with(key).stripe()
}

const fn steps() -> [[u16; 256]; WIDTH] {
    let mut steps = [[0; 256]; WIDTH];
    // A constant function can have no `for`.
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u16) << 8;
        let mut behind = 0;
        while behind < WIDTH {
            // A byte of zeros behind moves the checksum on by eight bits more.
            let mut bit = 0;
            while bit < 8 {
                crc = if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ POLYNOMIAL };
                bit += 1;
            }
            steps[behind][byte] = crc;
            behind += 1;
        }
        byte += 1;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of the specification of Redis Cluster, and slots that `CLUSTER KEYSLOT` tells.
    #[test]
    fn a_stripe_is_the_slot_of_the_whole_key_in_a_cluster() {
        let rows: [(&[u8], u16); 4] =
            [(b"123456789", 0x31c3), (b"", 0), (b"foo", 12182), (b"orders/42", 1029)];
        for (key, expected) in rows {
            assert_eq!(stripe(key), expected % STRIPES, "{}", key.escape_ascii());
        }
        assert_ne!(stripe(b"{foo}1"), stripe(b"foo"), "hash tags mean nothing here");
    }

    #[test]
    fn eight_bytes_at_once_are_eight_bytes_one_by_one() {
        let key: Vec<u8> = (0..=255).collect();
        for len in [0, 1, 7, 8, 9, 15, 16, 17, 256] {
            let one_by_one = key[..len].iter().fold(0_u16, |crc, byte| {
                (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
                    if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ POLYNOMIAL }
                })
            });
            assert_eq!(Checksum::default().with(&key[..len]), Checksum(one_by_one), "{len} bytes");
        }
    }

    #[test]
    fn a_key_in_two_parts_has_the_stripe_of_the_whole() {
        let key = b"locks:orders/42";
        for split in 0..=key.len() {
            let (prefix, resource) = key.split_at(split);
            let checksum = Checksum::default().with(prefix).with(resource);
            assert_eq!(checksum.stripe(), stripe(key), "split at {split}");
        }
    }
}
