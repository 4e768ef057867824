//! What a frame still needs when it is captured before its interface has finished it.

/// The work that is left to do on a frame: it travels with the frame from where it is received to
/// where it is sent, and is done there by the interface or by the kernel. This is
/// `struct virtio_net_hdr` in the byte order of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VnetHeader([u8; VnetHeader::SIZE]);

/// A checksum that is to be filled in: the sum of all bytes from `start` to the end, put at
/// `offset` behind `start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checksum {
    /// Where the sum begins, counted from the frame's first byte.
    pub start: u16,
    /// Where it is put, counted from there.
    pub offset: u16,
}

/// Segments that a frame is to be cut into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Segments {
    /// How long the headers are that every segment gets.
    pub headers: u16,
    /// How many bytes follow them in each segment but the last.
    pub size: u16,
}

const NEEDS_CHECKSUM: u8 = 1;

impl VnetHeader {
    /// How many bytes that is.
    pub const SIZE: usize = 10;

    /// As the kernel wrote it.
    pub(crate) fn received(bytes: [u8; Self::SIZE]) -> Self {
        let mut undone = VnetHeader(bytes);
        // That a checksum was found right concerns the receiver alone; when sending, other flags
        // are refused.
        undone.0[0] &= NEEDS_CHECKSUM;
        undone
    }

    /// As `struct virtio_net_hdr` is in memory.
    pub fn bytes(&self) -> &[u8; Self::SIZE] {
        &self.0
    }

    /// The checksum that is to be filled in.
    pub fn checksum(&self) -> Option<Checksum> {
        let checksum = Checksum { start: self.word(6), offset: self.word(8) };
        (self.0[0] & NEEDS_CHECKSUM != 0).then_some(checksum)
    }

    /// What the frame is to be cut into.
    pub fn segments(&self) -> Option<Segments> {
        let segments = Segments { headers: self.word(2), size: self.word(4) };
        (self.0[1] != 0 && segments.size > 0).then_some(segments)
    }

    /// What is left to do on a frame into whose beginning `by` bytes were inserted.
    pub(crate) fn shifted(mut self, by: u16) -> Self {
        if self.checksum().is_some() {
            self.set_word(6, self.word(6).saturating_add(by));
        }
        if self.word(2) > 0 {
            self.set_word(2, self.word(2).saturating_add(by));
        }
        self
    }

    /// What is left to do on a frame from whose beginning `count` bytes were taken.
    pub(crate) fn without(mut self, count: u16) -> Self {
        if self.checksum().is_some() {
            self.set_word(6, self.word(6).saturating_sub(count));
        }
        self.set_word(2, self.word(2).saturating_sub(count));
        self
    }

    fn word(&self, at: usize) -> u16 {
        u16::from_ne_bytes([self.0[at], self.0[at + 1]])
    }

    fn set_word(&mut self, at: usize, value: u16) {
        self.0[at..at + 2].copy_from_slice(&value.to_ne_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(flags: u8, kind: u8, words: [u16; 4]) -> [u8; 10] {
        let mut bytes = [flags, kind, 0, 0, 0, 0, 0, 0, 0, 0];
        for (place, word) in bytes[2..].chunks_mut(2).zip(words) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    #[test]
    fn a_checked_frame_has_nothing_undone() {
        let undone = VnetHeader::received(header(2, 0, [0; 4]));
        assert_eq!(undone, VnetHeader::default());
    }

    #[test]
    fn a_frame_that_is_to_be_cut_says_where() {
        let undone = VnetHeader::received(header(1, 1, [54, 1000, 34, 16]));
        assert_eq!(undone.checksum(), Some(Checksum { start: 34, offset: 16 }));
        assert_eq!(undone.segments(), Some(Segments { headers: 54, size: 1000 }));
    }

    #[test]
    fn a_tag_moves_what_lies_behind_it() {
        let undone = VnetHeader::received(header(1, 1, [54, 1000, 34, 16])).shifted(4);
        assert_eq!(undone.checksum(), Some(Checksum { start: 38, offset: 16 }));
        assert_eq!(undone.segments(), Some(Segments { headers: 58, size: 1000 }));
        assert_eq!(VnetHeader::default().shifted(4), VnetHeader::default());
        assert_eq!(undone.without(4).bytes(), &header(1, 1, [54, 1000, 34, 16]));
    }
}
