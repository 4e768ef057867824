//! `[[source]]`.

use laxity::units::{Bytes, Nanos, Rate};
use schemars::JsonSchema;
use serde::Deserialize;

use super::dist::Distribution;
use super::values::{At, Count, Number, Quantity, Word, span};
use super::way::Way;
use crate::keys::{Written, kinds};
use crate::model::{TcpCongestion, TcpRecovery, TcpSlowStart, TcpVariant};

kinds! {
    pub(crate), "ModelKind", "`model = …`.",
    /// Inside a burst as fast as the class's arrival curve allows, between bursts not at all.
    Greedy: "greedy";
    /// One packet after another at a constant rate.
    Constant: "constant";
    /// Independent exponential gaps, whatever the packets' lengths.
    Poisson: "poisson";
    /// Exponential gaps in proportion to the lengths of the packets behind them.
    Correlated: "correlated";
    /// Constant rate while on, silent while off.
    OnOff: "on-off";
    /// On-off with Pareto periods.
    ParetoOnOff: "pareto-on-off";
    /// Always a packet waiting.
    Backlogged: "backlogged";
    /// Connections over a network, each with an endpoint at both ends of the path.
    Tcp: "tcp";
    /// A pcap or pcapng file.
    Capture: "capture";
    /// A CSV file with the columns time_ns, class, length and optionally flow.
    Csv: "csv";
}

/// Traffic: a model that feeds one class, or a recording. Which keys apply depends on `model`.
// What the keys of some models mean is said in the rooms of these models.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Source {
    /// The class that it feeds; models only, a recording is sorted by the classes' `match`.
    pub class: Option<At<String>>,
    /// When it sends.
    pub model: At<Word<Kind>>,
    /// Lengths of its packets.
    pub packet: Option<At<Distribution<Bytes>>>,
    /// How many independent copies there are. Default as many as the class has streams.
    pub count: Option<At<Count>>,
    /// When it begins. Default 0s.
    pub start: Option<Quantity<Nanos>>,
    /// The time over which the beginnings of its copies, or of its connections, are spread at
    /// random. Default 0s.
    pub stagger: Option<Quantity<Nanos>>,
    /// When it ends. Default never.
    pub stop: Option<Quantity<Nanos>>,
    pub burst: Option<At<Distribution<Nanos>>>,
    pub spacing: Option<At<Distribution<Nanos>>>,
    pub rate: Option<Quantity<Rate>>,
    pub jitter: Option<At<Distribution<Nanos>>>,
    pub on: Option<At<Distribution<Nanos>>>,
    pub off: Option<At<Distribution<Nanos>>>,
    pub shape: Option<At<Number>>,
    pub window: Option<At<Count>>,
    /// In a network: the nodes that its packets pass, from the first to the last, or "shortest".
    pub path: Option<At<Way>>,
    /// Where the shortest path begins.
    pub from: Option<At<String>>,
    /// Where the shortest path ends.
    pub to: Option<At<String>>,
    /// How often its packets pass the path, which then ends where it begins. Default 1.
    pub laps: Option<At<Count>>,
    pub variant: Option<At<Word<TcpVariant>>>,
    pub loss_detection: Option<At<Word<TcpRecovery>>>,
    pub congestion: Option<At<Word<TcpCongestion>>>,
    pub ack: Option<Quantity<Bytes>>,
    pub transfer: Option<At<Distribution<Bytes>>>,
    pub pause: Option<At<Distribution<Nanos>>>,
    pub every: Option<At<Distribution<Nanos>>>,
    pub initial_window: Option<At<Count>>,
    pub slow_start: Option<At<Word<TcpSlowStart>>>,
    pub pacing: Option<At<bool>>,
    pub delayed_acks: Option<At<bool>>,
    pub limited_transmit: Option<At<bool>>,
    pub ecn: Option<At<bool>>,
    pub l4s: Option<At<bool>>,
    pub min_timeout: Option<Quantity<Nanos>>,
    pub tick: Option<Quantity<Nanos>>,
    pub file: Option<At<String>>,
    #[serde(rename = "match")]
    pub matching: Option<At<String>>,
    pub sort: Option<At<bool>>,
}

impl Source {
    /// The keys that not every model takes, and where they stand.
    pub(crate) fn options(&self) -> [Written<'_>; 37] {
        // Taken apart, so that none is forgotten.
        let Source {
            model: _,
            class,
            packet,
            count,
            start,
            stop,
            laps,
            burst,
            spacing,
            rate,
            jitter,
            on,
            off,
            shape,
            window,
            path,
            from,
            to,
            variant,
            loss_detection,
            congestion,
            ack,
            transfer,
            pause,
            every,
            initial_window,
            slow_start,
            pacing,
            delayed_acks,
            limited_transmit,
            ecn,
            l4s,
            min_timeout,
            tick,
            stagger,
            file,
            matching,
            sort,
        } = self;
        [
            ("class", span(class)),
            ("packet", span(packet)),
            ("count", span(count)),
            ("start", span(start)),
            ("stop", span(stop)),
            ("laps", span(laps)),
            ("burst", span(burst)),
            ("spacing", span(spacing)),
            ("rate", span(rate)),
            ("jitter", span(jitter)),
            ("on", span(on)),
            ("off", span(off)),
            ("shape", span(shape)),
            ("window", span(window)),
            ("path", span(path)),
            ("from", span(from)),
            ("to", span(to)),
            ("variant", span(variant)),
            ("loss-detection", span(loss_detection)),
            ("congestion", span(congestion)),
            ("ack", span(ack)),
            ("transfer", span(transfer)),
            ("pause", span(pause)),
            ("every", span(every)),
            ("initial-window", span(initial_window)),
            ("slow-start", span(slow_start)),
            ("pacing", span(pacing)),
            ("delayed-acks", span(delayed_acks)),
            ("limited-transmit", span(limited_transmit)),
            ("ecn", span(ecn)),
            ("l4s", span(l4s)),
            ("min-timeout", span(min_timeout)),
            ("tick", span(tick)),
            ("stagger", span(stagger)),
            ("file", span(file)),
            ("match", span(matching)),
            ("sort", span(sort)),
        ]
    }
}
