//! What sends packets into a network, and what becomes of them at the other end.

use std::ops::Range;

use laxity::packet::{ClassId, FlowId};
use laxity::port::Delays;
use laxity::units::Nanos;
use laxity_plan::model::{TcpCongestion, TcpRecovery, TcpSlowStart, TcpSource, TcpTimer};
use rand::RngExt;

use super::transit::{Body, Transit};
use crate::error::SourceProblem;
use crate::source::closed_loop::SourceCopy;
use crate::source::random::{Generator, Sampler};
use crate::source::{sampled, sampler};
use crate::tcp::{
    Acknowledging, Config, Congestion, Counts, Receiver, Recovery, Sender, SlowStart, Timing,
    Variant,
};

/// One flow: packets of one sender to one receiver.
pub(super) struct Flow {
    pub class: ClassId,
    /// Its number among the flows of its class.
    pub id: FlowId,
    /// Where its packets go, as a range of all routes.
    pub path: Range<u32>,
    /// Where acknowledgements go.
    pub back: Range<u32>,
    /// How long its packets take at the most, if that is proved.
    pub bound: Option<Nanos>,
    /// The copy of a backlogged source that it is, if it is one.
    pub backlogged: Option<SourceCopy>,
    /// Present for TCP.
    pub connection: Option<Box<Connection>>,
    pub books: FlowBooks,
}

/// What was measured of one flow.
#[derive(Clone, Debug, Default)]
pub struct FlowBooks {
    /// Packets that it sent, retransmissions included, acknowledgements not.
    pub sent: u64,
    /// Packets that were dropped or lost on the way.
    pub dropped: u64,
    /// Packets that arrived.
    pub arrived: u64,
    /// Bytes that arrived, each once: what a retransmission brings again does not count.
    pub delivered: u64,
    /// Delays' sum in ns, of the packets that arrived.
    pub delay_sum: u128,
}

impl FlowBooks {
    /// A packet was dropped or lost; acknowledgements do not count.
    pub(super) fn lose(&mut self, transit: &Transit, measured_from: Nanos) {
        let counts = !matches!(transit.body, Body::Ack { .. }) && transit.sent >= measured_from;
        self.dropped += u64::from(counts);
    }
}

/// A TCP connection: both of its ends, and the transfers that it makes one after another.
pub(super) struct Connection {
    pub sender: Sender,
    pub receiver: Receiver,
    /// Counts transfers, so that stray packets of an earlier one are known.
    pub transfer: u32,
    /// When the next transfer begins, between two.
    pub begins: Option<Nanos>,
    /// When the present or the next transfer was asked for.
    asked: Nanos,
    /// Transfers that were asked for while another one was under way, and had to wait.
    waited: u64,
    /// What earlier transfers did.
    before: Counts,
    workload: Workload,
    generator: Generator,
    /// From when on the sender's host has time for what may be sent, if it is busy.
    sends_at: Option<Nanos>,
    /// What its host draws from.
    host: Generator,
}

/// What is sent over a connection.
#[derive(Clone)]
pub(super) struct Workload {
    config: Config,
    acknowledging: Acknowledging,
    ack_length: u32,
    /// In bytes; without end when `None`.
    transfer: Option<Sampler<laxity::units::Bytes>>,
    pause: Sampler<Nanos>,
    /// From one transfer that is asked for to the next, instead of `pause`.
    every: Option<Sampler<Nanos>>,
    jitter: Sampler<Nanos>,
}

impl Workload {
    /// # Errors
    /// If a distribution's parameters describe none.
    pub fn new(source: &TcpSource) -> Result<Self, SourceProblem> {
        let timing = match source.timer {
            TcpTimer::Fine { min } => Timing::Rfc6298 { granularity: Nanos(1_000_000), min },
            TcpTimer::Coarse { tick } => Timing::Ticks { tick, phase: Nanos::ZERO },
        };
        let recovery = match source.recovery {
            TcpRecovery::Newreno => Recovery::NewReno,
            TcpRecovery::Sack => Recovery::Sack,
            TcpRecovery::RackTlp => Recovery::RackTlp,
        };
        let congestion = match source.congestion {
            TcpCongestion::Reno => Congestion::Reno,
            TcpCongestion::Cubic => Congestion::Cubic,
            TcpCongestion::Dctcp => Congestion::Dctcp,
            TcpCongestion::Bbr => Congestion::Bbr,
        };
        let transfer =
            source.transfer.map(|dist| sampled("transfer", Sampler::new(dist))).transpose()?;
        Ok(Workload {
            config: Config {
                variant: Variant::of(recovery, congestion),
                length: source.packet.0 as u32,
                transfer: None,
                initial_window: source.initial_window,
                receiver_window: source.window,
                slow_start: match source.slow_start {
                    TcpSlowStart::Standard => SlowStart::Standard,
                    TcpSlowStart::Hystart => SlowStart::HyStart,
                },
                pacing: source.pacing,
                limited_transmit: source.limited_transmit,
                ecn: source.ecn,
                timing,
                seed: 0,
            },
            acknowledging: match source.delayed_acks {
                true => Acknowledging::Delayed,
                false => Acknowledging::Every,
            },
            ack_length: source.ack.0 as u32,
            transfer,
            pause: sampler("pause", source.pause)?,
            every: source.every.map(|every| sampler("every", every)).transpose()?,
            jitter: sampler("jitter", source.jitter)?,
        })
    }
}

impl Connection {
    /// A connection that is there from `start` on, when its first transfer begins unless they come by
    /// time. What its host draws, its clock's phase and
    /// the jitter of sends, is apart from what it is asked to send.
    pub fn new(
        mut workload: Workload,
        start: Nanos,
        mut generator: Generator,
        mut host: Generator,
    ) -> Self {
        if let Timing::Ticks { tick, phase } = &mut workload.config.timing {
            *phase = Nanos(host.random_range(0..tick.0.max(1)));
        }
        let first = workload.every.as_ref().map(|every| every.draw(&mut generator));
        let begins = start.saturating_add(first.unwrap_or(Nanos::ZERO));
        // Nothing else draws from it, so that no other host draws otherwise.
        if workload.config.variant.congestion == Congestion::Bbr {
            workload.config.seed = host.random();
        }
        Connection {
            sender: Sender::new(workload.config),
            receiver: Receiver::new(workload.acknowledging, workload.config.variant),
            transfer: 0,
            begins: Some(begins),
            asked: begins,
            waited: 0,
            before: Counts::default(),
            workload,
            generator,
            sends_at: None,
            host,
        }
    }

    /// The sender may send: whether its host is too busy to do so at once.
    pub fn holds(&mut self, now: Nanos) -> bool {
        if self.sends_at.is_none() {
            let late = self.workload.jitter.draw(&mut self.host);
            self.sends_at = (late > Nanos::ZERO).then(|| now.saturating_add(late));
        }
        self.sends_at.is_some()
    }

    /// Whether the time has come for what was held.
    pub fn releases(&mut self, now: Nanos) -> bool {
        self.sends_at.take_if(|time| *time <= now).is_some()
    }

    /// Begins the next transfer.
    pub fn begin(&mut self, now: Nanos) {
        let length = u64::from(self.workload.config.length);
        let transfer = self.workload.transfer.as_ref();
        let bytes = transfer.map(|transfer| transfer.draw(&mut self.generator).0);
        let segments = bytes.map(|bytes| bytes.div_ceil(length).max(1));
        let config = Config { transfer: segments, ..self.workload.config };
        self.before = self.counts();
        self.sender = Sender::new(config);
        self.receiver = Receiver::new(self.workload.acknowledging, config.variant);
        self.transfer = self.transfer.wrapping_add(1);
        self.begins = None;
        self.waited += u64::from(now > self.asked);
    }

    /// If the transfer is complete, tells how long it took and plans the next one.
    pub fn complete(&mut self, now: Nanos) -> Option<Nanos> {
        if self.begins.is_some() || !self.sender.is_finished() {
            return None;
        }
        Some(self.end(now))
    }

    /// If everything has arrived of a transfer that was asked for by time, tells how long it took, and
    /// plans the next one: the receiver waits for nothing more.
    pub fn delivered(&mut self, now: Nanos) -> Option<Nanos> {
        let all = self.sender.transfer() == Some(self.receiver.delivered());
        let ends = self.begins.is_none() && self.is_asked_by_time() && all;
        ends.then(|| self.end(now))
    }

    fn end(&mut self, now: Nanos) -> Nanos {
        let took = now.saturating_sub(self.asked);
        self.asked = match &self.workload.every {
            Some(every) => self.asked.saturating_add(every.draw(&mut self.generator)),
            None => now.saturating_add(self.workload.pause.draw(&mut self.generator)),
        };
        self.begins = Some(self.asked.max(now));
        took
    }

    /// Whether transfers are asked for whatever became of those before.
    pub fn is_asked_by_time(&self) -> bool {
        self.workload.every.is_some()
    }

    /// Transfers that had to wait for one before, and whether one is under way.
    pub fn on_demand(&self) -> (u64, bool) {
        (self.waited, self.begins.is_none())
    }

    /// When the sender has something to do without hearing of the receiver.
    pub fn next_timer(&self) -> Option<Nanos> {
        let timer = self.begins.or(self.sender.next_timer());
        timer.into_iter().chain(self.sends_at).min()
    }

    /// How long its acknowledgements are in bytes.
    pub fn ack_length(&self) -> u32 {
        self.workload.ack_length
    }

    /// What was done over all transfers.
    pub fn counts(&self) -> Counts {
        let (before, now) = (self.before, self.sender.counts());
        Counts {
            sent: before.sent + now.sent,
            retransmitted: before.retransmitted + now.retransmitted,
            recoveries: before.recoveries + now.recoveries,
            timeouts: before.timeouts + now.timeouts,
            echoes: before.echoes + now.echoes,
        }
    }
}

/// What was measured of a class from end to end.
#[derive(Clone, Debug, Default)]
pub struct ClassBooks {
    /// From a packet's first arrival at an output to its arrival at the receiver.
    pub delay: Delays,
    /// From the beginning of its first transmission to there.
    pub transit: Delays,
    /// Packets that took longer than promised from end to end, or were longer under way at the end,
    /// without those demoted to best effort.
    pub deadline_misses: u64,
    /// Packets that took longer than proved, or were longer under way at the end, without those demoted.
    pub bound_misses: u64,
    /// How long transfers took.
    pub completion: Delays,
}

impl ClassBooks {
    /// Counts what a packet has missed that was so long on its way.
    pub(super) fn miss(
        &mut self,
        transit: &Transit,
        delay: Nanos,
        promised: Option<Nanos>,
        bound: Option<Nanos>,
    ) {
        let exceeds =
            |limit: Option<Nanos>| !transit.demoted && limit.is_some_and(|limit| delay > limit);
        self.deadline_misses += u64::from(exceeds(promised));
        self.bound_misses += u64::from(exceeds(bound));
    }
}
