//! The sending end of a TCP connection: what it is asked to send, and when its host does so.

use std::collections::VecDeque;
use std::sync::Arc;

use laxity::units::Nanos;
use laxity_plan::model::{TcpCongestion, TcpRecovery, TcpSlowStart, TcpSource, TcpTimer};
use rand::RngExt;

use crate::error::SourceProblem;
use crate::network::hosts::receiving::{ReceivingEnd, Request};
use crate::source::random::{Generator, Sampler};
use crate::source::{sampled, sampler};
use crate::tcp::{Acknowledging, Config, Congestion, Recovery, Sender, SlowStart, Timing, Variant};

/// The sending end of a TCP connection, and the transfers that it makes one after another.
pub(crate) struct SendingEnd {
    pub sender: Sender,
    /// Counts transfers, so that stray packets of an earlier one are known.
    pub transfer: u32,
    /// When the next transfer begins, between two.
    pub begins: Option<Nanos>,
    /// When the present or the next transfer was asked for.
    asked: Nanos,
    /// Transfers that were asked for while another one was under way, and had to wait.
    waited: u64,
    workload: Arc<Workload>,
    generator: Generator,
    /// From when on the sender's host has time for what may be sent, if it is busy.
    sends_at: Option<Nanos>,
    /// What its host draws from.
    host: Generator,
}

/// What is sent over connections.
pub(crate) struct Workload {
    config: Arc<Config>,
    acknowledging: Acknowledging,
    ack_length: u32,
    /// In bytes; without end when `None`.
    transfer: Option<Sampler<laxity::units::Bytes>>,
    pause: Sampler<Nanos>,
    /// From one transfer that is asked for to the next, instead of `pause`.
    every: Option<Sampler<Nanos>>,
    jitter: Sampler<Nanos>,
}

/// The workloads of a plan, each held once for the sources that ask for the same.
#[derive(Default)]
pub(crate) struct Workloads {
    /// The latest that differ, with the source of each but for who sends when to whom.
    known: VecDeque<(TcpSource, Arc<Workload>)>,
}

impl Workloads {
    /// How many are remembered.
    const KNOWN: usize = 16;

    /// What a source asks for.
    ///
    /// # Errors
    /// If a distribution's parameters describe none.
    pub(crate) fn workload(&mut self, source: &TcpSource) -> Result<Arc<Workload>, SourceProblem> {
        let alike = |known: &TcpSource| {
            let TcpSource { class, count, path, start, stagger, .. } = known.clone();
            TcpSource { class, count, path, start, stagger, ..source.clone() } == *known
        };
        if let Some((_, workload)) = self.known.iter().find(|(known, _)| alike(known)) {
            return Ok(workload.clone());
        }
        let workload = Arc::new(Workload::new(source)?);
        self.known.truncate(Self::KNOWN - 1);
        self.known.push_front((source.clone(), workload.clone()));
        Ok(workload)
    }
}

impl Workload {
    /// # Errors
    /// If a distribution's parameters describe none.
    pub(crate) fn new(source: &TcpSource) -> Result<Self, SourceProblem> {
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
            config: Arc::new(Config {
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
            }),
            acknowledging: if source.delayed_acks {
                Acknowledging::Delayed
            } else {
                Acknowledging::Every
            },
            ack_length: source.ack.0 as u32,
            transfer,
            pause: sampler("pause", source.pause)?,
            every: source.every.map(|every| sampler("every", every)).transpose()?,
            jitter: sampler("jitter", source.jitter)?,
        })
    }

    /// The other end of a connection that carries this.
    pub(crate) fn receiver(&self) -> ReceivingEnd {
        ReceivingEnd::new(self.acknowledging, self.config.variant, self.ack_length)
    }
}

impl SendingEnd {
    /// A connection that is there from `start` on, when its first transfer begins unless they come
    /// by time. What its host draws, its clock's phase and the jitter of sends, is apart from what
    /// it is asked to send.
    pub(crate) fn new(
        workload: Arc<Workload>,
        start: Nanos,
        mut generator: Generator,
        mut host: Generator,
    ) -> Self {
        // Most hosts have nothing of their own there.
        let mut config = workload.config.clone();
        if let Timing::Ticks { tick, .. } = config.timing {
            let phase = Nanos(host.random_range(0..tick.0.max(1)));
            config = Arc::new(Config { timing: Timing::Ticks { tick, phase }, ..*config });
        }
        let first = workload.every.as_ref().map(|every| every.draw(&mut generator));
        let begins = start.saturating_add(first.unwrap_or(Nanos::ZERO));
        // Nothing else draws from it, so that no other host draws otherwise.
        if config.variant.congestion == Congestion::Bbr {
            config = Arc::new(Config { seed: host.random(), ..*config });
        }
        SendingEnd {
            sender: Sender::new(config),
            transfer: 0,
            begins: Some(begins),
            asked: begins,
            waited: 0,
            workload,
            generator,
            sends_at: None,
            host,
        }
    }

    /// Looks at what an acknowledgement needs.
    pub(crate) fn touch(&self) -> u64 {
        let times = [self.begins, self.sends_at].map(|time| time.map_or(0, |time| time.0));
        self.sender.touch() ^ times[0] ^ times[1] ^ u64::from(self.transfer)
    }

    /// The sender may send: whether its host is too busy to do so at once.
    pub(crate) fn holds(&mut self, now: Nanos) -> bool {
        if self.sends_at.is_none() {
            let late = self.workload.jitter.draw(&mut self.host);
            self.sends_at = (late > Nanos::ZERO).then(|| now.saturating_add(late));
        }
        self.sends_at.is_some()
    }

    /// Whether the time has come for what was held.
    pub(crate) fn releases(&mut self, now: Nanos) -> bool {
        self.sends_at.take_if(|time| *time <= now).is_some()
    }

    /// Begins the next transfer; tells what its receiver is to measure, if transfers come by time.
    pub(crate) fn begin(&mut self, now: Nanos) -> Option<Request> {
        let length = u64::from(self.workload.config.length);
        let transfer = self.workload.transfer.as_ref();
        let bytes = transfer.map(|transfer| transfer.draw(&mut self.generator).0);
        let segments = bytes.map(|bytes| bytes.div_ceil(length).max(1));
        self.sender.restart(segments);
        self.transfer = self.transfer.wrapping_add(1);
        self.begins = None;
        self.waited += u64::from(now > self.asked);
        let Self { transfer, asked, .. } = *self;
        let segments = segments.filter(|_| self.is_asked_by_time())?;
        Some(Request { transfer, asked, segments })
    }

    /// If all of the transfer is acknowledged, plans the next one, and tells how long it took,
    /// unless its receiver measures that.
    pub(crate) fn complete(&mut self, now: Nanos) -> Option<Nanos> {
        if self.begins.is_some() || !self.sender.is_finished() {
            return None;
        }
        let took = now.saturating_sub(self.asked);
        self.asked = match &self.workload.every {
            Some(every) => self.asked.saturating_add(every.draw(&mut self.generator)),
            None => now.saturating_add(self.workload.pause.draw(&mut self.generator)),
        };
        self.begins = Some(self.asked.max(now));
        (!self.is_asked_by_time()).then_some(took)
    }

    /// Whether transfers are asked for whatever became of those before.
    pub(crate) fn is_asked_by_time(&self) -> bool {
        self.workload.every.is_some()
    }

    /// Transfers that had to wait for one before.
    pub(crate) fn waited(&self) -> u64 {
        self.waited
    }

    /// When the sender has something to do without hearing of the receiver.
    pub(crate) fn next_timer(&self) -> Option<Nanos> {
        let timer = self.begins.or(self.sender.next_timer());
        timer.into_iter().chain(self.sends_at).min()
    }
}

// Connections are many: a plan of a hundred thousand holds as many.
const _: () = assert!(size_of::<SendingEnd>() <= 448 && size_of::<ReceivingEnd>() <= 144);
