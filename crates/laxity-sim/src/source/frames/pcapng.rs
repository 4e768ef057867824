//! The pcapng format (draft-ietf-opsawg-pcapng): sections of blocks. Interface descriptions and
//! packets are read, every other block is read over.

use std::io::Read;
use std::path::Path;

use super::{ByteOrder, Frame, Frames, Input, MOST_CAPTURED};
use crate::error::{CaptureProblem, SimError};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// Bytes of a packet's block before its data.
const PACKET_HEADER: usize = 20;
/// No block that is read is longer: a whole frame and generous options.
const LONGEST_BLOCK: u32 = MOST_CAPTURED + 65_536;
/// No section has more interfaces, so that a damaged file cannot take all memory.
const MOST_INTERFACES: usize = 65_536;

/// Reads a pcapng file.
pub(crate) struct Reader<R> {
    input: Input<R>,
    order: ByteOrder,
    interfaces: Vec<Interface>,
    body: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Interface {
    link_type: u32,
    clock: Clock,
}

/// How an interface's stamps count.
#[derive(Clone, Copy, Debug)]
struct Clock {
    /// Units in a second.
    per_second: u128,
    /// Where they start, in seconds since the epoch.
    offset: i64,
}

impl Clock {
    /// In ns since the epoch, rounded down.
    fn nanos(self, stamp: u64) -> i128 {
        let stamp = u128::from(stamp);
        let (seconds, rest) = (stamp / self.per_second, stamp % self.per_second);
        // The rest is below 2^64, so the product fits.
        let nanos = rest * 1_000_000_000 / self.per_second;
        (seconds as i128 + i128::from(self.offset)) * 1_000_000_000 + nanos as i128
    }
}

/// Where a packet's fields are in its block.
struct Packet {
    interface: u32,
    stamp: u64,
    captured: u32,
    original: u32,
}

impl<R: Read> Reader<R> {
    /// A reader before the first section header.
    pub(crate) fn new(input: R, path: &Path) -> Self {
        let input = Input::new(input, path);
        Reader { input, order: ByteOrder::Little, interfaces: Vec::new(), body: Vec::new() }
    }

    /// Reads blocks until one is a packet; its body is then in `body`.
    fn next_packet(&mut self) -> Result<Option<u32>, SimError> {
        self.input.frame += 1;
        loop {
            let mut head = [0; 8];
            match self.input.read(&mut head)? {
                0 => return Ok(None),
                8 => {}
                _ => return Err(self.input.refuse(CaptureProblem::Truncated)),
            }
            let [t0, t1, t2, t3, l0, l1, l2, l3] = head;
            let kind = self.order.u32([t0, t1, t2, t3]);
            // A section's header says how its numbers are written, its own length included.
            if kind == SECTION_HEADER {
                self.read_section([l0, l1, l2, l3])?;
                continue;
            }
            let length = self.order.u32([l0, l1, l2, l3]);
            match kind {
                INTERFACE => {
                    self.read_body(length)?;
                    self.read_interface()?;
                }
                OBSOLETE_PACKET | ENHANCED_PACKET => {
                    self.read_body(length)?;
                    return Ok(Some(kind));
                }
                SIMPLE_PACKET => return Err(self.input.refuse(CaptureProblem::NoTime)),
                _ => {
                    let rest = self.rest_of_block(length, 8)?;
                    self.input.skip(rest)?;
                }
            }
        }
    }

    /// How much of a block is left when `read` bytes of it are read.
    fn rest_of_block(&self, length: u32, read: u32) -> Result<u64, SimError> {
        if length < read + 4 || !length.is_multiple_of(4) {
            return Err(self.damaged("a block's length is impossible"));
        }
        Ok(u64::from(length - read))
    }

    fn read_section(&mut self, length: [u8; 4]) -> Result<(), SimError> {
        let mut magic = [0; 4];
        self.input.read_exact(&mut magic)?;
        self.order = match magic {
            [0x1a, 0x2b, 0x3c, 0x4d] => ByteOrder::Big,
            [0x4d, 0x3c, 0x2b, 0x1a] => ByteOrder::Little,
            _ => return Err(self.damaged("a section's byte-order magic is unknown")),
        };
        self.interfaces.clear();
        let rest = self.rest_of_block(self.order.u32(length), 12)?;
        self.input.skip(rest)
    }

    /// Reads a block's body, and checks that its length is repeated behind it.
    fn read_body(&mut self, length: u32) -> Result<(), SimError> {
        let rest = self.rest_of_block(length, 8)?;
        if length > LONGEST_BLOCK {
            let length = u64::from(length);
            return Err(self.input.refuse(CaptureProblem::Absurd { length, limit: LONGEST_BLOCK }));
        }
        self.body.resize(rest as usize, 0);
        self.input.read_exact(&mut self.body)?;
        let body_length = self.body.len() - 4;
        if self.order.u32_at(&self.body, body_length) != Some(length) {
            return Err(self.damaged("a block's two lengths differ"));
        }
        self.body.truncate(body_length);
        Ok(())
    }

    fn read_interface(&mut self) -> Result<(), SimError> {
        let (order, body) = (self.order, &self.body);
        let described = (|| Some((order.u16_at(body, 0)?, order.u32_at(body, 4)?)))();
        let Some((link_type, _snap_length)) = described else {
            return Err(self.damaged("an interface description is too short"));
        };
        if self.interfaces.len() == MOST_INTERFACES {
            return Err(self.damaged("a section has more than 65536 interfaces"));
        }
        let Some(clock) = self.read_clock() else {
            return Err(self.damaged("an interface's options are impossible"));
        };
        self.interfaces.push(Interface { link_type: link_type.into(), clock });
        Ok(())
    }

    /// The options if_tsresol (9) and if_tsoffset (14); by default stamps count µs.
    fn read_clock(&self) -> Option<Clock> {
        let mut clock = Clock { per_second: 1_000_000, offset: 0 };
        let mut options = &self.body[8..];
        while !options.is_empty() {
            let (code, length) = (self.order.u16_at(options, 0)?, self.order.u16_at(options, 2)?);
            let value = options.get(4..4 + usize::from(length))?;
            match (code, value) {
                (0, _) => break,
                (9, &[resolution]) if resolution < 0x80 => {
                    clock.per_second = 10u128.checked_pow(resolution.into())?;
                }
                (9, &[resolution]) => {
                    clock.per_second = 1u128.checked_shl((resolution & 0x7f).into())?;
                }
                (14, value) => {
                    let bytes = *value.first_chunk::<8>()?;
                    clock.offset = match self.order {
                        ByteOrder::Big => i64::from_be_bytes(bytes),
                        ByteOrder::Little => i64::from_le_bytes(bytes),
                    };
                }
                _ => {}
            }
            options = options.get(4 + usize::from(length).next_multiple_of(4)..).unwrap_or(&[]);
        }
        Some(clock)
    }

    /// Takes a packet's block apart.
    fn packet(&self, kind: u32) -> Option<Packet> {
        let u32_at = |at| self.order.u32_at(&self.body, at);
        let interface = match kind {
            OBSOLETE_PACKET => self.order.u16_at(&self.body, 0)?.into(),
            _ => u32_at(0)?,
        };
        let stamp = u64::from(u32_at(4)?) << 32 | u64::from(u32_at(8)?);
        Some(Packet { interface, stamp, captured: u32_at(12)?, original: u32_at(16)? })
    }

    fn damaged(&self, what: &'static str) -> SimError {
        self.input.refuse(CaptureProblem::Damaged { what })
    }
}

impl<R: Read + Send> Frames for Reader<R> {
    fn next_frame(&mut self) -> Result<Option<Frame<'_>>, SimError> {
        let Some(kind) = self.next_packet()? else { return Ok(None) };
        let Some(packet) = self.packet(kind) else {
            return Err(self.damaged("its block is too short"));
        };
        let Some(interface) = self.interfaces.get(packet.interface as usize) else {
            return Err(self.damaged("its interface is not described"));
        };
        self.input.check_lengths(packet.captured, packet.original)?;
        let data = self.body[PACKET_HEADER..].get(..packet.captured as usize);
        let Some(data) = data else {
            return Err(self.damaged("it is longer than its block"));
        };
        Ok(Some(Frame {
            time: interface.clock.nanos(packet.stamp),
            link_type: interface.link_type,
            length: packet.original,
            data,
        }))
    }

    fn refuse(&self, problem: CaptureProblem) -> SimError {
        self.input.refuse(problem)
    }
}
