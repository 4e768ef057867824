//! The packets that wait, by when the fluid finishes them.

use alloc::vec::Vec;
use core::hint::select_unpredictable;

use crate::packet::{ClassId, Packet};
use crate::queue::{Order, Rank, SeatId, Tournament};
use crate::scheduler::Place;

/// A first-in-first-out queue for each class, and the packet that the fluid finishes first; among
/// equals the one that arrived first. Within a class, finishing times never decrease.
///
/// Every packet lies in a cell of one cache line. Finishing times are long, so the tournament among
/// the fronts is played by the numbers of their cells.
#[derive(Clone, Debug)]
pub(super) struct Packets {
    /// The first cell belongs to no class and is later than any other.
    cells: Vec<Cell>,
    /// A cell that is not in use, or `NONE`.
    free: u32,
    queues: Vec<Queue>,
    fronts: Tournament<u32>,
    arrivals: u64,
}

/// No cell; none is later than this one.
const NONE: u32 = 0;

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Cell {
    packet: Packet,
    finish: u128,
    /// How many arrived before.
    arrival: u64,
    /// The cells before and behind it in its queue, or `NONE`.
    previous: u32,
    next: u32,
}

const _: () = assert!(size_of::<Cell>() == 64);

#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    /// The cell of its last packet, or `NONE`.
    last: u32,
    /// Among the fronts, while it holds any.
    seat: SeatId,
}

/// Orders cells by their contents.
struct ByFinish<'a>(&'a [Cell]);

/// Finishing time, arrival and cell of a front packet.
type Front = (u128, u64, u32);

impl Order<u32> for ByFinish<'_> {
    type Player = Front;

    #[inline(always)]
    fn player(&self, cell: u32) -> Front {
        let Cell { finish, arrival, .. } = self.0[cell as usize];
        (finish, arrival, cell)
    }

    #[inline(always)]
    fn rank(&self, (_, _, cell): Front) -> u32 {
        cell
    }
}

impl Rank for Front {
    #[inline(always)]
    fn owner(&self) -> u32 {
        self.2
    }

    #[inline(always)]
    fn is_before(&self, other: &Front) -> bool {
        (self.0 < other.0) | ((self.0 == other.0) & (self.1 < other.1))
    }

    #[inline(always)]
    fn or(&self, wins: bool, other: &Front) -> Front {
        (
            select_unpredictable(wins, self.0, other.0),
            select_unpredictable(wins, self.1, other.1),
            select_unpredictable(wins, self.2, other.2),
        )
    }
}

impl Packets {
    /// Empty queues for classes 0 to `classes - 1`.
    pub(super) fn new(classes: usize) -> Self {
        // Room for one packet per class: a vector that grows may be half empty.
        let mut cells = Vec::with_capacity(classes + 1);
        cells.push(Cell::nobodys());
        Packets {
            cells,
            free: NONE,
            queues: alloc::vec![Queue::default(); classes],
            fronts: Tournament::new(classes, NONE),
            arrivals: 0,
        }
    }

    /// Whether there is a queue for a class.
    pub(super) fn has_class(&self, class: usize) -> bool {
        class < self.queues.len()
    }

    /// Appends a packet, which the fluid finishes then, to the queue of its class.
    #[inline(always)]
    pub(super) fn push(&mut self, finish: u128, packet: Packet) -> Place {
        let class = packet.class.index();
        let last = self.queues[class].last;
        let arrival = self.arrivals;
        self.arrivals += 1;
        let at = self.occupy();
        // Written where it stays: a packet whose address is handed on is copied in parts.
        let cell = &mut self.cells[at as usize];
        cell.packet = packet;
        (cell.finish, cell.arrival, cell.previous, cell.next) = (finish, arrival, last, NONE);
        let queue = &mut self.queues[class];
        queue.last = at;
        if last == NONE {
            queue.seat = self.fronts.join_by(&ByFinish(&self.cells), at);
        } else {
            self.cells[last as usize].next = at;
        }
        Place::behind(at)
    }

    /// Takes the packet that the fluid finishes first.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<Packet> {
        let at = self.fronts.first_by(&ByFinish(&self.cells))?;
        let Cell { packet, next, .. } = self.cells[at as usize];
        self.lead(packet.class, next);
        self.release(at);
        Some(packet)
    }

    /// The packet at a place, which is taken.
    pub(super) fn get(&self, place: Place) -> &Packet {
        &self.cells[place.cell().unwrap_or(NONE) as usize].packet
    }

    /// Takes a packet out of its place.
    pub(super) fn withdraw(&mut self, place: Place) -> Option<Packet> {
        let at = place.cell().filter(|at| *at != NONE)?;
        let Cell { packet, previous, next, .. } = self.cells[at as usize];
        if previous == NONE {
            self.lead(packet.class, next);
        } else {
            self.cells[previous as usize].next = next;
            match next {
                NONE => self.queues[packet.class.index()].last = previous,
                _ => self.cells[next as usize].previous = previous,
            }
        }
        self.release(at);
        Some(packet)
    }

    /// Bytes held.
    pub(super) fn footprint(&self) -> usize {
        self.cells.capacity() * size_of::<Cell>()
            + self.queues.capacity() * size_of::<Queue>()
            + self.fronts.footprint()
    }

    /// This cell or none comes to the front of a queue.
    #[inline(always)]
    fn lead(&mut self, class: ClassId, next: u32) {
        let queue = &mut self.queues[class.index()];
        if next == NONE {
            queue.last = NONE;
            self.fronts.leave_by(&ByFinish(&self.cells), queue.seat);
        } else {
            self.cells[next as usize].previous = NONE;
            self.fronts.change_by(&ByFinish(&self.cells), queue.seat, next);
        }
    }

    #[inline(always)]
    fn occupy(&mut self) -> u32 {
        if self.free == NONE {
            self.more();
        }
        let at = self.free;
        self.free = self.cells[at as usize].next;
        at
    }

    #[cold]
    fn more(&mut self) {
        self.free = self.cells.len() as u32;
        self.cells.push(Cell::nobodys());
    }

    fn release(&mut self, at: u32) {
        self.cells[at as usize].next = self.free;
        self.free = at;
    }
}

impl Cell {
    fn nobodys() -> Self {
        let packet = Packet::default();
        Cell { packet, finish: u128::MAX, arrival: u64::MAX, previous: NONE, next: NONE }
    }
}
