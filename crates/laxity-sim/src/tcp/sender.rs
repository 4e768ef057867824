//! The sender: what to send, and when.

mod counted;

use laxity::units::Nanos;

use super::config::{Config, Counts};
use super::timing::Timeout;
use super::window::Window;
use super::{Ack, Ecn, ONE, Segment};
use counted::Counted;

/// The sending end of a transfer.
#[derive(Clone, Debug)]
pub struct Sender {
    common: Common,
    losses: Counted,
}

/// What a sender has whatever finds its losses.
#[derive(Clone, Debug)]
struct Common {
    window: Window,
    /// When the timer expires.
    expiry: Option<Nanos>,
    /// The next new segment says that the window was reduced.
    tell_reduced: bool,
    counts: Counts,
    timeout: Timeout,
    config: Config,
}

impl Sender {
    /// A sender that has sent nothing.
    pub fn new(config: Config) -> Self {
        let receiver_window = config.receiver_window.clamp(1, Config::WIDEST);
        let initial_window = config.initial_window.clamp(1, Config::WIDEST);
        let config = Config { receiver_window, initial_window, ..config };
        Sender {
            common: Common {
                window: Window::new(&config),
                expiry: None,
                tell_reduced: false,
                counts: Counts::default(),
                timeout: Timeout::new(config.timing),
                config,
            },
            losses: Counted::default(),
        }
    }

    /// The next segment that leaves now, if one may. Call until there is none.
    // Inlined, so that the segment is built where the caller keeps it.
    #[inline]
    pub fn poll_send(&mut self, now: Nanos) -> Option<Segment> {
        let common = &mut self.common;
        let (number, again) = self.losses.send(common, now)?;
        common.counts.sent += 1;
        common.counts.retransmitted += u64::from(again);
        let capable = common.config.ecn && !again;
        Some(Segment {
            number,
            length: common.config.length,
            ecn: if capable { Ecn::Capable } else { Ecn::NotCapable },
            reduced: !again && std::mem::take(&mut common.tell_reduced),
        })
    }

    /// An acknowledgement arrives. One that acknowledges what was never sent is ignored.
    pub fn on_ack(&mut self, now: Nanos, ack: &Ack) {
        let board = &self.losses.board;
        if (board.first()..=board.next()).contains(&ack.next) {
            self.losses.on_ack(&mut self.common, now, ack);
        }
    }

    /// The retransmission timer, if its time has come.
    pub fn on_timer(&mut self, now: Nanos) {
        if self.common.expiry.is_some_and(|expiry| now >= expiry) {
            self.losses.on_timer(&mut self.common, now);
        }
    }

    /// When [`Sender::on_timer`] wants to be called. It moves with most acknowledgements; calling
    /// early does nothing.
    pub fn next_timer(&self) -> Option<Nanos> {
        self.common.expiry
    }

    /// Whether everything there was to send is acknowledged.
    pub fn is_finished(&self) -> bool {
        self.common.config.transfer == Some(self.acknowledged())
    }

    /// How many segments the receiver has acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.losses.board.first()
    }

    /// The congestion window in segments, for traces.
    pub fn congestion_window(&self) -> f64 {
        self.common.window.exact() as f64 / ONE as f64
    }

    /// The slow-start threshold in segments, for traces.
    pub fn threshold(&self) -> f64 {
        self.common.window.threshold() as f64 / ONE as f64
    }

    /// The present retransmission timeout.
    pub fn retransmission_timeout(&self) -> Nanos {
        self.common.timeout.current()
    }

    /// What was done so far.
    pub fn counts(&self) -> Counts {
        self.common.counts
    }
}

impl Common {
    /// The first segment never sent, if there is one and the receiver has room for it.
    fn new_segment(&self, next: u64, outstanding: u64) -> Option<u64> {
        let room = outstanding < u64::from(self.config.receiver_window);
        (room && self.config.transfer.is_none_or(|transfer| next < transfer)).then_some(next)
    }

    fn restart_timer(&mut self, now: Nanos) {
        self.expiry = Some(now.saturating_add(self.timeout.current()));
    }
}
