//! RESP2 and RESP3: bytes to values and back.
