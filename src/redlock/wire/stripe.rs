//! The stripe of a key: one of 16,384 groups into which all clients sort keys alike.
//!
//! The stripe is the slot that the key would have in a Redis cluster without a hash tag: its CRC16
//! (XMODEM), cut to fourteen bits. Fencing numbers count by stripes, and so do the orders of nodes.

/// The number of stripes.
pub(crate) const STRIPES: u16 = 1 << 14;

/// What each byte does to the sum before it.
const TABLE: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

/// Returns the stripe of a key.
pub(crate) fn stripe(key: &[u8]) -> u16 {
    let crc = key.iter().fold(0_u16, |crc, byte| {
        let [high, _] = crc.to_be_bytes();
        (crc << 8) ^ TABLE[usize::from(high ^ byte)]
    });
    crc % STRIPES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stripe_is_the_slot_of_the_whole_key_in_a_cluster() {
        let rows: [(&[u8], u16); 4] =
            [(b"123456789", 0x31c3), (b"", 0), (b"foo", 12182), (b"orders/42", 1029)];
        for (key, expected) in rows {
            assert_eq!(stripe(key), expected % STRIPES, "{}", key.escape_ascii());
        }
        assert_ne!(stripe(b"{foo}1"), stripe(b"foo"), "hash tags mean nothing here");
    }
}
