//! The fixed RTP header (RFC 3550, section 5.1): no padding, extension, contributors or marker.

/// Its length in bytes.
pub(crate) const LENGTH: usize = 12;

/// PCMU audio at 8 kHz (RFC 3551, table 4).
const PAYLOAD_TYPE: u8 = 0;
const VERSION: u8 = 2;

/// What tells packets of a stream apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// One more for each packet, with overflow.
    pub sequence: u16,
    /// When its first sample was taken, in samples, with overflow.
    pub timestamp: u32,
    /// The stream.
    pub ssrc: u32,
}

impl Header {
    /// The header's bytes.
    pub(crate) fn write(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[0] = VERSION << 6;
        bytes[1] = PAYLOAD_TYPE;
        bytes[2..4].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.timestamp.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.ssrc.to_be_bytes());
        bytes
    }

    /// Reads the header of a datagram; `None` if it does not begin with one.
    pub(crate) fn read(datagram: &[u8]) -> Option<Header> {
        let bytes: &[u8; LENGTH] = datagram.first_chunk()?;
        let [first, kind, s0, s1, t0, t1, t2, t3, c0, c1, c2, c3] = *bytes;
        (first == VERSION << 6 && kind & 0x7F == PAYLOAD_TYPE).then_some(Header {
            sequence: u16::from_be_bytes([s0, s1]),
            timestamp: u32::from_be_bytes([t0, t1, t2, t3]),
            ssrc: u32::from_be_bytes([c0, c1, c2, c3]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let header = Header { sequence: 0xFEDC, timestamp: 0x1234_5678, ssrc: 0x9ABC_DEF0 };
        let bytes = header.write();
        assert_eq!(bytes, *b"\x80\x00\xFE\xDC\x12\x34\x56\x78\x9A\xBC\xDE\xF0");
        assert_eq!(Header::read(&bytes), Some(header));
        assert_eq!(Header::read(&bytes[..11]), None);
        assert_eq!(Header::read(&[0; 12]), None);
    }
}
