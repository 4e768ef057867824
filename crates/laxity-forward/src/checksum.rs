//! The checksum of IP, TCP and UDP (RFC 1071).

/// A sum of 16-bit words in ones' complement, not yet folded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum(u64);

impl Sum {
    /// Adds bytes. A zero byte pads an odd last one.
    pub(crate) fn and(self, bytes: &[u8]) -> Sum {
        let words = bytes.chunks_exact(4);
        let rest = words.remainder();
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        // Words of 32 bits have the same sum once folded; it takes 2^32 of them to overflow.
        let of = |word: &[u8]| u64::from(u32::from_be_bytes([word[0], word[1], word[2], word[3]]));
        let sum: u64 = words.map(of).sum();
        Sum(self.0 + sum + of(&last))
    }

    /// And this number.
    pub(crate) fn and_number(self, number: u32) -> Sum {
        Sum(self.0 + u64::from(number))
    }

    /// The checksum.
    pub(crate) fn fold(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xffff {
            sum = (sum >> 16) + (sum & 0xffff);
        }
        !(sum as u16)
    }

    /// The checksum of a header after a change of two bytes (RFC 1624, equation 3).
    pub(crate) fn changed(checksum: u16, before: [u8; 2], after: [u8; 2]) -> u16 {
        let number = |bytes| u32::from(u16::from_be_bytes(bytes));
        Sum::default()
            .and_number(u32::from(!checksum))
            .and_number(u32::from(!u16::from_be_bytes(before)))
            .and_number(number(after))
            .fold()
    }

    /// The same where 0 says that there is none: its other form.
    pub(crate) fn fold_nonzero(self) -> u16 {
        match self.fold() {
            0 => 0xffff,
            sum => sum,
        }
    }
}

/// Completes a checksum that a sender left to the interface: the bytes from `start` on are summed,
/// with what stands at `offset` bytes behind it, the sum of the pseudo header, and the sum is
/// written there. Says false, and does nothing, if that is not within the frame.
pub fn complete(frame: &mut [u8], start: u16, offset: u16) -> bool {
    let Some(summed) = frame.get_mut(usize::from(start)..) else { return false };
    let sum = Sum::default().and(summed).fold_nonzero();
    let field = summed.get_mut(usize::from(offset)..).and_then(|rest| rest.first_chunk_mut());
    let Some(field) = field else { return false };
    *field = sum.to_be_bytes();
    true
}
