//! Control messages: what is said of one message beside its bytes, and what the kernel says back.

use std::mem::size_of;

/// The kernel aligns headers and data to its words.
const WORD: usize = size_of::<usize>();
const HEADER: usize = size_of::<libc::cmsghdr>();

/// Room for a traffic class, a length of segments and a time.
const ROOM: usize = 3 * (HEADER + 8);

/// Control messages of a message that is sent.
#[derive(Clone, Copy, Debug)]
#[repr(align(8))]
pub(crate) struct Control {
    bytes: [u8; ROOM],
    length: usize,
}

impl Control {
    pub(crate) fn new() -> Self {
        Control { bytes: [0; ROOM], length: 0 }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Sets the byte of the IP header that holds code point and ECN.
    pub(crate) fn traffic_class(&mut self, is_v4: bool, class: u8) {
        let (level, kind) = match is_v4 {
            true => (libc::IPPROTO_IP, libc::IP_TOS),
            false => (libc::IPPROTO_IPV6, libc::IPV6_TCLASS),
        };
        self.push(level, kind, i32::from(class).to_ne_bytes());
    }

    /// Has the kernel cut the message into datagrams of this length.
    pub(crate) fn segments(&mut self, length: u16) {
        self.push(libc::SOL_UDP, libc::UDP_SEGMENT, length.to_ne_bytes());
    }

    /// Says when the message is to leave, on the socket's clock for that.
    pub(crate) fn transmit_time(&mut self, nanoseconds: u64) {
        self.push(libc::SOL_SOCKET, libc::SCM_TXTIME, nanoseconds.to_ne_bytes());
    }

    fn push<const N: usize>(&mut self, level: i32, kind: i32, data: [u8; N]) {
        let free = &mut self.bytes[self.length..];
        let (header, rest) = free.split_at_mut(HEADER);
        header[..WORD].copy_from_slice(&(HEADER + N).to_ne_bytes());
        header[WORD..WORD + 4].copy_from_slice(&level.to_ne_bytes());
        header[WORD + 4..WORD + 8].copy_from_slice(&kind.to_ne_bytes());
        rest[..N].copy_from_slice(&data);
        self.length += HEADER + N.next_multiple_of(WORD);
    }
}

/// The control messages of a message that was received: level, kind, data.
pub(crate) fn parse(mut bytes: &[u8]) -> impl Iterator<Item = (i32, i32, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from_ne_bytes(bytes.get(..WORD)?.try_into().ok()?);
        let number = |at: usize| Some(i32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let (level, kind) = (number(WORD)?, number(WORD + 4)?);
        let data = bytes.get(HEADER..length)?;
        bytes = bytes.get(length.next_multiple_of(WORD)..).unwrap_or_default();
        Some((level, kind, data))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        let mut control = Control::new();
        control.traffic_class(true, 0xB9);
        control.segments(1200);
        control.transmit_time(1 << 40);
        let read: Vec<_> = parse(control.bytes()).collect();
        let expected: [(i32, i32, &[u8]); 3] = [
            (libc::IPPROTO_IP, libc::IP_TOS, &0xB9_i32.to_ne_bytes()),
            (libc::SOL_UDP, libc::UDP_SEGMENT, &1200_u16.to_ne_bytes()),
            (libc::SOL_SOCKET, libc::SCM_TXTIME, &(1_u64 << 40).to_ne_bytes()),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn broken_messages_end_the_list() {
        let mut control = Control::new();
        control.traffic_class(false, 1);
        for length in 0..control.bytes().len() {
            let whole = parse(&control.bytes()[..length]).count();
            assert!(whole <= usize::from(length >= HEADER + 4));
        }
        assert_eq!(parse(&[0xFF; 64]).count(), 0);
        // A length of nothing must not repeat for ever.
        assert_eq!(parse(&[0; 64]).count(), 0);
    }
}
