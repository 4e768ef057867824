//! The models of sources by their words in a plan.

use crate::keys::kinds;

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
