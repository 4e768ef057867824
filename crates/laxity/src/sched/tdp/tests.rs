//! Against the definition of time-driven priority, carried out step by step, and what it promises.

mod chain;
mod edge;
mod marking;
mod output;
mod promises;
mod reference;

use std::vec::Vec;

use super::{CommonTime, Mark, Tdp, TdpSettings};
use crate::link::Link;
use crate::packet::Packet;
use crate::scheduler::{Dispatch, DropReason, Scheduler};
use crate::units::Nanos;

/// A packet to come to an output: when, and in which frame it is to be sent if it is reserved.
#[derive(Clone, Copy, Debug)]
struct Coming {
    time: Nanos,
    packet: Packet,
    frame: Option<u64>,
}

/// A packet that an output has sent, padding or not, and how it was marked if it was.
#[derive(Clone, Copy, Debug)]
struct SentPacket {
    dispatch: Option<Dispatch>,
    mark: Option<Mark>,
    start: Nanos,
    departure: Nanos,
}

/// Sends packets, in order of time, through an output and a link that asks whenever it is free,
/// with padding of `padding` bytes if any is due, until `end`.
fn send(
    output: &mut Tdp,
    coming: &[Coming],
    padding: Option<u32>,
    end: Nanos,
) -> (Vec<SentPacket>, Vec<(Packet, DropReason)>) {
    let TdpSettings { time, rate, .. } = output.settings;
    let mut link = Link::new(rate);
    let (mut sent, mut dropped) = (Vec::new(), Vec::new());
    let mut drops = |packet, reason| dropped.push((packet, reason));
    let mut coming = coming.iter().peekable();
    let mut now = Nanos::ZERO;
    while now < end {
        while let Some(Coming { packet, frame, .. }) = coming.next_if(|next| next.time <= now) {
            match frame {
                Some(frame) => output.enqueue_in(now, *packet, *frame, &mut drops),
                None => output.enqueue(now, *packet, &mut drops),
            }
        }
        let mut next = coming.peek().map_or(end, |next| next.time);
        if link.free_at() <= now {
            let (dispatch, length) = match output.dequeue(now, &mut drops) {
                Some(dispatch) => (Some(dispatch), Some(dispatch.packet.length)),
                None => (None, padding.filter(|&length| output.pad(now, length, &mut drops))),
            };
            if let Some(length) = length {
                let departure = link.transmit(now, length);
                let is_marked = dispatch.is_none_or(|dispatch| dispatch.deadline.is_some());
                let mark = is_marked.then(|| output.mark());
                sent.push(SentPacket { dispatch, mark, start: now, departure });
                next = next.min(departure);
            } else {
                let ready = output.next_ready(now).unwrap_or(end);
                assert!(ready > now, "nothing came of being ready");
                let boundary = time.start(time.frame_at(now) + 1);
                next = next.min(ready).min(if padding.is_some() { boundary } else { end });
            }
        }
        now = if link.free_at() > now { next.min(link.free_at()) } else { next };
    }
    (sent, dropped)
}
