//! The programs at an interface, put together by hand.
//!
//! A frame that has not been scheduled is taken to a TAP device with its [`Prefix`] before it; one
//! that has been passes. Frames that come back to the host enter by a TAP device, whose program has
//! them arrive at the interface.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use super::prefix::{self, Prefix};
use crate::bpf::{self, instruction};

/// `BPF_PROG_TYPE_SCHED_CLS`.
const CLASSIFIER: u32 = 3;
/// `BPF_MAP_TYPE_ARRAY` and `BPF_MAP_TYPE_DEVMAP`, whose devices leave it when they are gone.
const ARRAY: u32 = 2;
const DEVICES: u32 = 14;

/// What tells a frame that has been scheduled.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scheduled<'a> {
    /// It comes from one of these sockets.
    Sockets(&'a [u64]),
    /// It has this mark, which is taken off.
    Mark(u32),
}

/// Where frames go that have not been scheduled, and how they are told apart there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Destination<'a> {
    /// The TAP device.
    pub tap: u32,
    /// The number with which prefixes begin.
    pub magic: u64,
    /// Whether frames at the interface begin with an Ethernet header; if not, they get one.
    pub is_ethernet: bool,
    /// For a program that outlives the TAP device: a map in which it [is](presence), as long as it
    /// is there. Frames pass without it.
    pub presence: Option<BorrowedFd<'a>>,
}

/// A map that holds the number of the interface at which frames arrive that come back to the host.
pub(super) fn arrival_map() -> io::Result<OwnedFd> {
    bpf::map(ARRAY, 1)
}

/// A map in which a device is until it is gone.
pub(super) fn presence(device: u32) -> io::Result<OwnedFd> {
    let map = bpf::map(DEVICES, 1)?;
    bpf::put(map.as_fd(), 0, device)?;
    Ok(map)
}

/// Loads the program that takes frames to a TAP device.
pub(super) fn taking(scheduled: Scheduled<'_>, to: Destination<'_>) -> io::Result<OwnedFd> {
    match bpf::load(CLASSIFIER, &take(scheduled, to, true)) {
        // A kernel without control groups of sockets does not know what asks for them.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            bpf::load(CLASSIFIER, &take(scheduled, to, false))
        }
        loaded => loaded,
    }
}

/// Loads a program that lets every frame pass.
pub(super) fn passing() -> io::Result<OwnedFd> {
    let mut program = Assembler::default();
    program.value(RESULT, GO_ON).exit();
    bpf::load(CLASSIFIER, &program.instructions)
}

/// Loads the program that has frames of a TAP device arrive at the interface in the map, with this
/// mark.
pub(super) fn returning(map: BorrowedFd<'_>, mark: u32) -> io::Result<OwnedFd> {
    bpf::load(CLASSIFIER, &give_back(map.as_raw_fd(), mark))
}

/// Fields of `struct __sk_buff`.
const MARK: i16 = 8;
const PROTOCOL: i16 = 16;
const HAS_TAG: i16 = 20;
const PRIORITY: i16 = 32;

/// Numbers of helpers.
const MAP_LOOKUP: i32 = 1;
const STORE_BYTES: i32 = 9;
const REDIRECT: i32 = 23;
const CHANGE_HEAD: i32 = 43;
const SOCKET_COOKIE: i32 = 46;
const CGROUP: i32 = 79;
const CGROUP_ABOVE: i32 = 83;

/// `TCX_NEXT` and `TCX_DROP`.
const GO_ON: i32 = -1;
const DROP: i32 = 2;
/// `BPF_F_INGRESS`.
const INGRESS: i32 = 1;
/// `BPF_PSEUDO_MAP_FD`.
const MAP_DESCRIPTOR: u8 = 1;

/// Registers: what a call returns, the context, and the end of the stack.
const RESULT: u8 = 0;
const CONTEXT: u8 = 6;
const STACK: u8 = 10;

/// Where a program may jump to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    /// For a frame that has been scheduled.
    Passes,
    /// For a frame that nobody would schedule.
    Untouched,
    Dropped,
}

/// A program as it is written.
#[derive(Default)]
struct Assembler {
    instructions: Vec<u64>,
    /// Jumps whose way is not known yet.
    jumps: Vec<(usize, Label)>,
}

fn take(scheduled: Scheduled<'_>, to: Destination<'_>, with_cgroups: bool) -> Vec<u64> {
    /// Whole words that take the prefix and an Ethernet header.
    const ROOM: i16 = -72;
    let Destination { tap, magic, is_ethernet, presence } = to;
    let mut program = Assembler::default();
    program.begin();
    match scheduled {
        Scheduled::Sockets(cookies) => {
            program.with_context().call(SOCKET_COOKIE);
            for cookie in cookies {
                program.number(1, *cookie).jump_if_equal(RESULT, 1, Label::Passes);
            }
        }
        Scheduled::Mark(mark) => {
            program.load_word(1, CONTEXT, MARK).number(2, mark.into());
            program.jump_if_equal(1, 2, Label::Passes);
        }
    }
    if let Some(presence) = presence {
        program.look_up(presence.as_raw_fd()).jump_if_zero(Label::Untouched);
    }
    for word in (ROOM..0).step_by(8) {
        program.zero(word);
    }
    program.number(1, magic).store(ROOM + prefix::MAGIC, 1);
    let fields = [(HAS_TAG, prefix::HAS_TAG), (MARK, prefix::MARK), (PRIORITY, prefix::PRIORITY)];
    for (field, place) in fields {
        program.load_word(1, CONTEXT, field).store_word(ROOM + place, 1);
    }
    if with_cgroups {
        program.with_context().call(CGROUP).store(ROOM + prefix::CGROUPS, RESULT);
        for level in 1..prefix::LEVELS {
            program.with_context().value(2, i32::from(level)).call(CGROUP_ABOVE);
            program.store(ROOM + prefix::CGROUPS + 8 * level, RESULT);
        }
    }
    let mut length = Prefix::SIZE as i16;
    if !is_ethernet {
        length += prefix::ETHERNET;
        program.load_word(1, CONTEXT, PROTOCOL).store_half(ROOM + length - 2, 1);
    }
    program.with_context().value(2, length.into()).value(3, 0).call(CHANGE_HEAD);
    program.jump_unless_zero(Label::Dropped);
    program.with_context().value(2, 0).stack(3, ROOM).value(4, length.into()).value(5, 0);
    program.call(STORE_BYTES).jump_unless_zero(Label::Dropped);
    program.value(1, tap as i32).value(2, 0).call(REDIRECT).exit();
    program.label(Label::Passes);
    if let Scheduled::Mark(_) = scheduled {
        program.value(1, 0).set_context(MARK, 1);
    }
    program.label(Label::Untouched);
    program.value(RESULT, GO_ON).exit();
    program.label(Label::Dropped);
    program.value(RESULT, DROP).exit();
    program.instructions
}

fn give_back(map: i32, mark: u32) -> Vec<u64> {
    let mut program = Assembler::default();
    program.begin();
    program.number(1, mark.into()).set_context(MARK, 1);
    program.look_up(map).jump_if_zero(Label::Dropped);
    program.load_word(1, RESULT, 0).value(2, INGRESS).call(REDIRECT).exit();
    program.label(Label::Dropped);
    program.value(RESULT, DROP).exit();
    program.instructions
}

impl Assembler {
    fn add(&mut self, code: u8, to: u8, from: u8, offset: i16, value: i32) -> &mut Self {
        self.instructions.push(instruction(code, to, from, offset, value));
        self
    }

    /// The context is an argument, which calls forget.
    fn begin(&mut self) -> &mut Self {
        self.add(0xbf, CONTEXT, 1, 0, 0)
    }

    fn with_context(&mut self) -> &mut Self {
        self.add(0xbf, 1, CONTEXT, 0, 0)
    }

    fn value(&mut self, to: u8, value: i32) -> &mut Self {
        self.add(0xb7, to, 0, 0, value)
    }

    fn number(&mut self, to: u8, number: u64) -> &mut Self {
        self.add(0x18, to, 0, 0, number as i32);
        self.add(0, 0, 0, 0, (number >> 32) as i32)
    }

    fn map(&mut self, to: u8, descriptor: i32) -> &mut Self {
        self.add(0x18, to, MAP_DESCRIPTOR, 0, descriptor).add(0, 0, 0, 0, 0)
    }

    /// What is in a map under 0.
    fn look_up(&mut self, map: i32) -> &mut Self {
        const KEY: i16 = -8;
        self.zero(KEY).map(1, map).stack(2, KEY).call(MAP_LOOKUP)
    }

    /// A pointer into the stack.
    fn stack(&mut self, to: u8, place: i16) -> &mut Self {
        self.add(0xbf, to, STACK, 0, 0).add(0x07, to, 0, 0, place.into())
    }

    fn load_word(&mut self, to: u8, from: u8, offset: i16) -> &mut Self {
        self.add(0x61, to, from, offset, 0)
    }

    fn set_context(&mut self, offset: i16, from: u8) -> &mut Self {
        self.add(0x63, CONTEXT, from, offset, 0)
    }

    fn zero(&mut self, place: i16) -> &mut Self {
        self.add(0x7a, STACK, 0, place, 0)
    }

    fn store(&mut self, place: i16, from: u8) -> &mut Self {
        self.add(0x7b, STACK, from, place, 0)
    }

    fn store_word(&mut self, place: i16, from: u8) -> &mut Self {
        self.add(0x63, STACK, from, place, 0)
    }

    fn store_half(&mut self, place: i16, from: u8) -> &mut Self {
        self.add(0x6b, STACK, from, place, 0)
    }

    fn call(&mut self, helper: i32) -> &mut Self {
        self.add(0x85, 0, 0, 0, helper)
    }

    fn exit(&mut self) -> &mut Self {
        self.add(0x95, 0, 0, 0, 0)
    }

    fn jump_if_equal(&mut self, one: u8, other: u8, to: Label) -> &mut Self {
        self.jumps.push((self.instructions.len(), to));
        self.add(0x1d, one, other, 0, 0)
    }

    fn jump_if_zero(&mut self, to: Label) -> &mut Self {
        self.jumps.push((self.instructions.len(), to));
        self.add(0x15, RESULT, 0, 0, 0)
    }

    fn jump_unless_zero(&mut self, to: Label) -> &mut Self {
        self.jumps.push((self.instructions.len(), to));
        self.add(0x55, RESULT, 0, 0, 0)
    }

    /// Jumps to this label come here.
    fn label(&mut self, label: Label) {
        let here = self.instructions.len();
        for (from, _) in self.jumps.extract_if(.., |(_, to)| *to == label) {
            let offset = (here - from - 1) as u16;
            let mut bytes = self.instructions[from].to_ne_bytes();
            bytes[2..4].copy_from_slice(&offset.to_ne_bytes());
            self.instructions[from] = u64::from_ne_bytes(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code, registers, offset and value of an instruction.
    fn parts(instruction: u64) -> (u8, u8, i16, i32) {
        let [code, registers, o0, o1, v0, v1, v2, v3] = instruction.to_ne_bytes();
        let (offset, value) = ([o0, o1], [v0, v1, v2, v3]);
        (code, registers, i16::from_ne_bytes(offset), i32::from_ne_bytes(value))
    }

    #[test]
    fn every_jump_leads_to_an_end() {
        let map = io::stdin();
        let presence = Some(map.as_fd());
        let to = Destination { tap: 7, magic: u64::MAX, is_ethernet: false, presence };
        let programs = [
            take(Scheduled::Sockets(&[1, 2, 3]), to, true),
            take(Scheduled::Mark(5), to, false),
            take(Scheduled::Mark(5), Destination { presence: None, ..to }, false),
            give_back(3, 5),
        ];
        for program in programs {
            let jumps = program.iter().enumerate().filter_map(|(at, instruction)| {
                let (code, _, offset, _) = parts(*instruction);
                [0x1d, 0x15, 0x55].contains(&code).then_some(at as i64 + 1 + i64::from(offset))
            });
            let targets: Vec<usize> = jumps.map(|target| target as usize).collect();
            assert!(!targets.is_empty());
            for target in targets {
                assert_eq!(parts(program[target]).0, 0xb7);
            }
            assert_eq!(parts(program[program.len() - 1]).0, 0x95);
        }
    }
}
