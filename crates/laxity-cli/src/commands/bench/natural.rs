//! The load under which Linux's own disciplines are measured: packets as long as they are on links,
//! weights that differ, time that advances by the length of each packet sent.

use std::hint::black_box;

use laxity::packet::{ClassId, Packet};
use laxity::scheduler::{DropReason, Scheduler};
use laxity::units::{Nanos, Rate};

use super::timing::{Mode, draw, median, mixed, shuffled};

/// Packets of one run.
const PACKETS: u64 = 400_000;
/// That of the link: a byte takes four fifths of a nanosecond.
pub(super) const LINK: Rate = Rate(10_000_000_000);
/// The lengths of packets, each as likely as the others.
const LENGTHS: [u32; 8] = [64, 64, 128, 256, 576, 1024, 1500, 1500];
/// Bytes of a packet's buffer that are written on arrival and read on departure.
const TOUCHED: usize = 192;
/// From this number of classes on, buffers are touched. Those of fewer classes stay in the cache.
const TOUCHED_FROM: u32 = 16_000;

/// A weight from 1 to 16 for each class, at random.
pub(super) fn weights(classes: u32) -> Vec<u32> {
    (0..classes).map(|class| 1 + (mixed(u64::from(class) ^ (1 << 40)) % 16) as u32).collect()
}

/// How many packets a class has when all have some.
fn each(classes: u32) -> u32 {
    match classes {
        0..32 => 64,
        32..=16_384 => 4,
        _ => 2,
    }
}

/// The median ns of processor time for one packet in and one packet out.
pub(super) fn schedule<S: Scheduler>(scheduler: S, classes: u32, mode: Mode) -> f64 {
    let mut driver = Driver::new(scheduler, classes, mode);
    median(|| {
        for _ in 0..PACKETS {
            driver.turn();
        }
        PACKETS
    })
}

/// A scheduler and its packets.
pub(super) struct Driver<S> {
    scheduler: S,
    now: Nanos,
    /// Draws lengths and classes.
    drawn: u64,
    /// The classes that have no packets, where they sleep.
    asleep: Vec<u32>,
    /// The lines of each packet's buffer that are touched; none where nothing is.
    buffers: Vec<[u8; TOUCHED]>,
}

impl<S: Scheduler> Driver<S> {
    /// With the packets of a mode queued.
    pub(super) fn new(scheduler: S, classes: u32, mode: Mode) -> Self {
        let queued = match mode {
            Mode::Backlogged | Mode::Together | Mode::Overload | Mode::Flood => {
                classes * each(classes)
            }
            Mode::OnOff => (classes / 2).max(1),
            Mode::Single => 1,
        };
        let buffers = if classes >= TOUCHED_FROM { queued as usize } else { 0 };
        let mut driver = Driver {
            scheduler,
            now: Nanos::ZERO,
            drawn: 0,
            asleep: Vec::new(),
            buffers: vec![[0; TOUCHED]; buffers],
        };
        let order = shuffled(classes);
        let mut handles = shuffled(queued).into_iter().map(u64::from);
        match mode {
            Mode::Backlogged | Mode::Together | Mode::Overload | Mode::Flood => {
                let woken = order.iter().flat_map(|&class| (0..each(classes)).map(move |_| class));
                for (place, class) in woken.enumerate() {
                    let handle = handles.next().expect("one for each");
                    driver.draw_packet(class, handle);
                    // Woken one after another, classes are not in step.
                    let is_last = (place as u32 + 1).is_multiple_of(each(classes));
                    for _ in 0..if mode != Mode::Together && is_last { 4 } else { 0 } {
                        driver.turn();
                    }
                }
            }
            Mode::OnOff | Mode::Single => {
                let (awake, asleep) = order.split_at(queued as usize);
                for (&class, handle) in awake.iter().zip(handles) {
                    driver.draw_packet(class, handle);
                }
                driver.asleep = asleep.to_vec();
            }
        }
        driver
    }

    /// Lets time go by.
    pub(super) fn wait(&mut self, time: Nanos) {
        self.now += time;
    }

    /// A packet of any length.
    fn draw_packet(&mut self, class: u32, handle: u64) {
        let length = LENGTHS[(self.draw() >> 32) as usize % LENGTHS.len()];
        self.enqueue(class, length, handle);
    }

    /// One packet out, which comes in again: in its own class, or where classes sleep in another
    /// that does.
    #[inline(always)]
    pub(super) fn turn(&mut self) {
        let packet = loop {
            let mut none = |_: Packet, _: DropReason| {};
            if let Some(dispatch) = self.scheduler.dequeue(self.now, &mut none) {
                // The packet is used below, field by field, as a sender would use it.
                black_box(dispatch.deadline);
                break dispatch.packet;
            }
            // What is held back is waited for.
            let Some(ready) = self.scheduler.next_ready(self.now) else { return };
            self.now = ready.max(self.now + Nanos(1));
        };
        if let Some(buffer) = self.buffers.get(packet.handle as usize) {
            black_box(buffer.iter().step_by(64).fold(0, |sum, byte| sum ^ byte));
        }
        self.now.0 += u64::from(packet.length) * 4 / 5;
        let mut class = packet.class.0;
        if !self.asleep.is_empty() {
            let place = (((self.draw() >> 32) * self.asleep.len() as u64) >> 32) as usize;
            std::mem::swap(&mut self.asleep[place], &mut class);
        }
        self.enqueue(class, packet.length, packet.handle);
    }

    #[inline(always)]
    fn enqueue(&mut self, class: u32, length: u32, handle: u64) {
        if let Some(buffer) = self.buffers.get_mut(handle as usize) {
            buffer.iter_mut().step_by(64).for_each(|byte| *byte ^= 1);
        }
        let (class, arrival) = (ClassId(class), self.now);
        let packet = Packet { class, length, arrival, handle, ..Packet::default() };
        self.scheduler.enqueue(self.now, packet, &mut |_: Packet, _: DropReason| {});
    }

    #[inline(always)]
    fn draw(&mut self) -> u64 {
        draw(&mut self.drawn)
    }
}
