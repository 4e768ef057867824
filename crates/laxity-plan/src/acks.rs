//! Acknowledgements of TCP, and which of them later ones make superfluous (RFC 793, RFC 2018, RFC
//! 2883, RFC 7323): what a filter of acknowledgements goes by, of frames and of simulated segments
//! alike.

#[cfg(test)]
mod tests;

use std::hash::{DefaultHasher, Hash, Hasher};

use laxity::packet::AckTag;

use crate::classify::Conversation;
use crate::encapsulation::Encapsulation;
use crate::matching::Headers;

/// What a packet acknowledges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "whoever receives segments makes one")]
pub struct Acknowledgement {
    /// The first byte that its sender still waits for.
    pub next: u32,
    /// Bytes beyond that which have arrived (SACK); an empty block ends the list.
    pub blocks: [(u32, u32); 4],
    /// The value and the echo of its time stamps option.
    pub stamps: Option<(u32, u32)>,
    /// What it says of congestion: the bits of ECE and CWR.
    pub congestion: u8,
    /// Whether it carries nothing else that its receiver has to see.
    pub is_pure: bool,
}

/// The protocol number of TCP.
const TCP: u8 = 6;
/// The bits of the flags: FIN, SYN, RST, PSH, ACK, URG, and those of ECN.
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;
const NO_CONGESTION: u8 = 0x3f;
/// The kinds of options: the end of them, padding, SACK, time stamps.
const END: u8 = 0;
const PADDING: u8 = 1;
const SACK: u8 = 5;
const STAMPS: u8 = 8;

impl Acknowledgement {
    /// What a packet of IP acknowledges; `None` if it is no whole header of TCP, or acknowledges
    /// nothing.
    pub fn read(packet: &[u8]) -> Option<Acknowledgement> {
        let (header, length) = match packet.first()? >> 4 {
            4 if packet.len() >= 20 => {
                let is_fragment = u16::from_be_bytes([packet[6], packet[7]]) & 0x3fff != 0;
                let at = usize::from(packet[0] & 0xf) * 4;
                let is_tcp = packet[9] == TCP && !is_fragment && at >= 20;
                is_tcp.then_some((at, u16::from_be_bytes([packet[2], packet[3]]).into()))?
            }
            6 if packet.len() >= 40 => {
                let behind = usize::from(u16::from_be_bytes([packet[4], packet[5]]));
                (packet[6] == TCP).then_some((40, 40 + behind))?
            }
            _ => return None,
        };
        let segment = packet.get(header..)?;
        let (fixed, _) = segment.split_first_chunk::<20>()?;
        let (own, flags) = (usize::from(fixed[12] >> 4) * 4, fixed[13]);
        let options = segment.get(20..own)?;
        if flags & (ACK | SYN) != ACK {
            return None;
        }
        let mut ack = Acknowledgement {
            next: word(&fixed[8..])?,
            congestion: flags & !NO_CONGESTION,
            // Reserved bits, such as that of RFC 9768, say something, too.
            is_pure: flags & NO_CONGESTION == ACK && fixed[12] & 0xf == 0 && length == header + own,
            ..Acknowledgement::default()
        };
        ack.is_pure &= ack.read_options(options).is_some();
        Some(ack)
    }

    /// `None` if there is one that is not known, or is malformed.
    fn read_options(&mut self, mut options: &[u8]) -> Option<()> {
        while let Some((kind, rest)) = options.split_first() {
            match *kind {
                END => return Some(()),
                PADDING => options = rest,
                kind => {
                    let length = usize::from(*rest.first()?);
                    let value = options.get(2..length)?;
                    options = &options[length..];
                    match (kind, value.len()) {
                        (STAMPS, 8) => self.stamps = Some((word(value)?, word(&value[4..])?)),
                        (SACK, 8 | 16 | 24 | 32) => {
                            for (block, bytes) in self.blocks.iter_mut().zip(value.chunks(8)) {
                                *block = (word(bytes)?, word(&bytes[4..])?);
                            }
                        }
                        _ => return None,
                    }
                }
            }
        }
        Some(())
    }

    /// Whether a packet that says this has its receiver know all that an earlier one of its flow
    /// says, and more.
    pub fn makes_superfluous(&self, earlier: &Acknowledgement) -> bool {
        let is_stale = match (earlier.stamps, self.stamps) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(earlier), Some(own)) => {
                !is_before(own.0, earlier.0) && !is_before(own.1, earlier.1)
            }
        };
        let says_more = match self.selects_more(earlier) {
            Some(true) => !is_before(self.next, earlier.next),
            Some(false) => is_before(earlier.next, self.next),
            None => false,
        };
        is_stale && says_more && self.congestion == earlier.congestion
    }

    /// Whether it selects more bytes than an earlier one; `None` if it lacks some of its. A block
    /// that is acknowledged already reports a duplicate (RFC 2883), which nobody else does.
    fn selects_more(&self, earlier: &Acknowledgement) -> Option<bool> {
        let is_old = |(start, _): (u32, u32)| is_before(start, earlier.next);
        if earlier.selected().any(is_old)
            || earlier.selected().count() > 0 && self.selected().any(is_old)
        {
            return None;
        }
        let holds = |(start, end): (u32, u32)| {
            self.selected().any(|(from, to)| !is_before(start, from) && !is_before(to, end))
        };
        let bytes = |ack: &Acknowledgement| {
            ack.selected().map(|(start, end)| u64::from(end.wrapping_sub(start))).sum::<u64>()
        };
        earlier.selected().all(holds).then(|| bytes(self) > bytes(earlier))
    }

    fn selected(&self) -> impl Iterator<Item = (u32, u32)> {
        self.blocks.into_iter().take_while(|(start, end)| start != end)
    }
}

/// Whether a sequence number is before another one (RFC 793, section 3.3).
fn is_before(one: u32, other: u32) -> bool {
    one.wrapping_sub(other).cast_signed() < 0
}

fn word(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

/// The last acknowledgements of a flow that may become superfluous.
#[derive(Clone, Debug, Default)]
pub struct AckHistory {
    /// By number.
    recent: [Acknowledgement; AckTag::REACH as usize],
    /// How many of them there are.
    known: u16,
    /// The number of the last one.
    number: u16,
}

impl AckHistory {
    /// Nothing before makes anything of what comes. Numbers go on, so that none is given twice to
    /// what is queued.
    pub fn begin_anew(&mut self) {
        self.known = 0;
    }

    /// The tag of what comes next in the flow.
    pub fn tag(&mut self, ack: &Acknowledgement) -> AckTag {
        let back = |back: &u16| &self.recent[slot(self.number.wrapping_sub(*back))];
        let reach =
            (0..self.known).take_while(|number| ack.makes_superfluous(back(number))).count();
        if ack.is_pure {
            self.number = self.number.wrapping_add(1);
            self.recent[slot(self.number)] = *ack;
            self.known = (self.known + 1).min(AckTag::REACH);
        }
        AckTag::new(self.number, ack.is_pure, reach as u16)
    }
}

fn slot(number: u16) -> usize {
    usize::from(number % AckTag::REACH)
}

/// The histories of many flows. Of more than there are places for some are forgotten, and what is
/// queued of those is not superfluous.
#[derive(Clone, Debug)]
pub struct AckTable {
    flows: Vec<(Conversation, AckHistory)>,
    secret: u64,
}

impl AckTable {
    /// How many flows have places.
    const FLOWS: usize = 4_096;

    /// An empty one. The `secret` keeps others from choosing flows that share a place.
    pub fn new(secret: u64) -> AckTable {
        let none = Conversation { ends: None, ports: None };
        let flows = vec![(none, AckHistory::default()); AckTable::FLOWS];
        AckTable { flows, secret }
    }

    /// The tag of the packet that a frame of Ethernet holds, which has these headers.
    pub fn tag_frame(&mut self, headers: &Headers, frame: &[u8]) -> AckTag {
        let packet = Encapsulation::from_ethernet(frame).packet(frame);
        packet.map_or(AckTag::NONE, |packet| self.tag(headers, packet))
    }

    /// The tag of a packet of IP with these headers.
    pub fn tag(&mut self, headers: &Headers, packet: &[u8]) -> AckTag {
        if headers.ip.is_none_or(|ip| ip.protocol != TCP) {
            return AckTag::NONE;
        }
        let Some(ack) = Acknowledgement::read(packet) else { return AckTag::NONE };
        let conversation = Conversation::new(headers);
        let mut hasher = DefaultHasher::new();
        (self.secret, conversation).hash(&mut hasher);
        let place = hasher.finish() as usize % AckTable::FLOWS;
        let (known, history) = &mut self.flows[place];
        if *known != conversation {
            *known = conversation;
            history.begin_anew();
        }
        history.tag(&ack)
    }
}
