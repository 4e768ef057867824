//! What was measured of connections and flows.

use serde::Serialize;

use super::DelaySummary;

/// What TCP endpoints did, over the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TcpSummary {
    /// Segments sent again.
    pub retransmitted: u64,
    /// Fast recoveries.
    pub recoveries: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Windows reduced for an echo of congestion.
    pub echoes: u64,
    /// Transfers completed within the measured time.
    pub completed: u64,
    /// How long they took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_ns: Option<DelaySummary>,
    /// Of transfers that are asked for by time, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_demand: Option<OnDemand>,
}

/// Transfers that are asked for by time, whatever became of those before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OnDemand {
    /// Those that had to wait because another one of their connection was under way. The wait
    /// counts in how long they took.
    pub waited: u64,
    /// Those under way at the end, which do not count in how long they took.
    pub unfinished: u64,
}

/// One flow from its sender to its receiver.
#[derive(Clone, Debug, Serialize)]
pub struct FlowSummary {
    /// Its class.
    pub class: String,
    /// Its number in the class.
    pub flow: u32,
    /// Packets that set out.
    pub sent: u64,
    /// Packets that were dropped or lost on the way.
    pub dropped: u64,
    /// Bits a second that were delivered, each packet once.
    pub goodput_bps: f64,
    /// The mean delay of the packets that arrived in ns.
    pub delay_mean_ns: Option<f64>,
}

/// Jain's index of fairness (Jain, Chiu, Hawe 1984): the square of the sum over n times the sum of
/// the squares; none of nothing.
pub fn jain(goodputs: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum, squares) =
        goodputs.fold((0.0, 0.0, 0.0), |(n, sum, squares), x| (n + 1.0, sum + x, squares + x * x));
    (squares > 0.0).then(|| sum * sum / (count * squares))
}
