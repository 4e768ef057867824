//! The sending end of a TCP connection: its transfers, and the delays of its host.

use std::collections::VecDeque;
use std::sync::Arc;

use laxity::units::Nanos;
use laxity_plan::model::{TcpSource, TcpTimer};
use rand::RngExt;

use crate::error::SourceProblem;
use crate::network::hosts::receiving::{ReceivingEnd, Request};
use crate::network::ids::TransferId;
use crate::source::random::{Generator, Sampler};
use crate::source::{sampled, sampler};
use crate::tcp::{Acknowledging, Config, Congestion, Sender, Timing, Variant};

/// The sending end of a TCP connection, with its transfers one after another.
pub(crate) struct SendingEnd {
    pub sender: Sender,
    /// The present transfer, or the last one; 0 before any. Stray packets name an earlier one.
    pub transfer: TransferId,
    /// When the next transfer begins; `None` during a transfer.
    pub begins: Option<Nanos>,
    /// When the present or the next transfer was requested.
    asked: Nanos,
    /// Transfers that had to wait because another one was in progress.
    waited: u64,
    workload: Arc<Workload>,
    generator: Generator,
    /// Until when the host is busy, if it delays what may be sent.
    sends_at: Option<Nanos>,
    /// The generator of its host.
    host: Generator,
}

/// The traffic of a connection, as a source describes it.
pub(crate) struct Workload {
    config: Arc<Config>,
    acknowledging: Acknowledging,
    ack_length: u32,
    /// The size of a transfer in bytes; without end if `None`.
    transfer: Option<Sampler<laxity::units::Bytes>>,
    pause: Sampler<Nanos>,
    /// The time between two requests, if transfers are requested by time; `pause` does not apply
    /// then.
    every: Option<Sampler<Nanos>>,
    jitter: Sampler<Nanos>,
}

/// The workloads of a plan. Sources with the same traffic share one.
#[derive(Default)]
pub(crate) struct Workloads {
    /// The latest ones that differ, each with its source without class, count, path, start and
    /// stagger.
    known: VecDeque<(TcpSource, Arc<Workload>)>,
}

impl Workloads {
    /// The number of workloads that are remembered.
    const KNOWN: usize = 16;

    /// The workload of a source.
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
        let transfer =
            source.transfer.map(|dist| sampled("transfer", Sampler::new(dist))).transpose()?;
        Ok(Workload {
            config: Arc::new(Config {
                variant: Variant::new(source.recovery, source.congestion),
                length: source.packet.0 as u32,
                transfer: None,
                initial_window: source.initial_window,
                receiver_window: source.window,
                slow_start: source.slow_start,
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

    /// The receiving end of a connection with this traffic.
    pub(crate) fn receiver(&self) -> ReceivingEnd {
        ReceivingEnd::new(self.acknowledging, self.config.variant, self.ack_length)
    }
}

impl SendingEnd {
    /// A connection that begins at `start`, or with the first request after it. `host` draws the
    /// phase of its clock and the jitter of sends, `generator` all else.
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
            transfer: TransferId(0),
            begins: Some(begins),
            asked: begins,
            waited: 0,
            workload,
            generator,
            sends_at: None,
            host,
        }
    }

    /// Reads what an acknowledgement needs into the cache.
    pub(crate) fn touch(&self) -> u64 {
        let times = [self.begins, self.sends_at].map(|time| time.map_or(0, |time| time.0));
        self.sender.touch() ^ times[0] ^ times[1] ^ u64::from(self.transfer.0)
    }

    /// Whether the host delays what the sender may send now.
    pub(crate) fn holds(&mut self, now: Nanos) -> bool {
        if self.sends_at.is_none() {
            let late = self.workload.jitter.draw(&mut self.host);
            self.sends_at = (late > Nanos::ZERO).then(|| now.saturating_add(late));
        }
        self.sends_at.is_some()
    }

    /// Whether the delay of the host is over.
    pub(crate) fn releases(&mut self, now: Nanos) -> bool {
        self.sends_at.take_if(|time| *time <= now).is_some()
    }

    /// Begins the next transfer; returns the request, if its receiver measures the transfer.
    pub(crate) fn begin(&mut self, now: Nanos) -> Option<Request> {
        let length = u64::from(self.workload.config.length);
        let transfer = self.workload.transfer.as_ref();
        let bytes = transfer.map(|transfer| transfer.draw(&mut self.generator).0);
        let segments = bytes.map(|bytes| bytes.div_ceil(length).max(1));
        self.sender.restart(segments);
        self.transfer = self.transfer.next();
        self.begins = None;
        self.waited += u64::from(now > self.asked);
        let Self { transfer, asked, .. } = *self;
        let segments = segments.filter(|_| self.is_asked_by_time())?;
        Some(Request { transfer, asked, segments })
    }

    /// Plans the next transfer if this one is acknowledged completely. Returns how long it took,
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

    /// Whether transfers are requested by time, not one after another.
    pub(crate) fn is_asked_by_time(&self) -> bool {
        self.workload.every.is_some()
    }

    /// Transfers that had to wait for another one.
    pub(crate) fn waited(&self) -> u64 {
        self.waited
    }

    /// The time of the next timer.
    pub(crate) fn next_timer(&self) -> Option<Nanos> {
        let timer = self.begins.or(self.sender.next_timer());
        timer.into_iter().chain(self.sends_at).min()
    }
}

// Connections are many: a plan of a hundred thousand holds as many.
const _: () = assert!(size_of::<SendingEnd>() <= 448 && size_of::<ReceivingEnd>() <= 144);
