//! A file of systemd.network(5), which sets disciplines up and has no filters.

use std::fmt::Write as _;

use crate::linux::Refusal;
use crate::setup::units::micros;
use crate::setup::{Handle, Qdisc, QdiscKind, Setup};

/// The sections for an interface.
pub(super) fn file(setup: &Setup, device: &str) -> Result<String, Refusal> {
    let mut text = format!(
        "# Written by `laxity export tc --format networkd`: a drop-in for the interface's own .network file.\n\
         [Match]\nName={device}\n"
    );
    for qdisc in &setup.qdiscs {
        section(qdisc, &mut text)?;
    }
    Ok(text)
}

fn section(qdisc: &Qdisc, text: &mut String) -> Result<(), Refusal> {
    let Qdisc { handle, parent, kind, stab } = qdisc;
    let refused = |what: &str, why: &str| {
        Err(Refusal::new(
            format!("{what} in systemd.network"),
            why,
            "run --format script from a service, or --format batch with `tc -batch`",
        ))
    };
    if stab.is_some() {
        return refused("`overhead`", "it has no key for how lengths are counted");
    }
    let yes = |yes| if yes { "yes" } else { "no" };
    let (name, keys) = match kind {
        QdiscKind::Tbf(tbf) => (
            "TokenBucketFilter",
            format!("Rate={}\nBurstBytes={}\nLimitBytes={}\n", tbf.rate.0, tbf.burst, tbf.limit),
        ),
        QdiscKind::Pfifo { limit: Some(limit) } => ("PFIFO", format!("PacketLimit={limit}\n")),
        QdiscKind::Bfifo { limit } => ("BFIFO", format!("LimitBytes={limit}\n")),
        QdiscKind::FqCodel(fq) => (
            "FairQueueingControlledDelay",
            format!(
                "PacketLimit={}\nFlows={}\nQuantumBytes={}\nTargetSec={}us\nIntervalSec={}us\nECN={}\n",
                fq.limit,
                fq.flows,
                fq.quantum,
                micros(fq.target),
                micros(fq.interval),
                yes(fq.ecn)
            ),
        ),
        QdiscKind::CoDel(codel) => (
            "ControlledDelay",
            format!(
                "PacketLimit={}\nTargetSec={}us\nIntervalSec={}us\nECN={}\n",
                codel.limit,
                micros(codel.target),
                micros(codel.interval),
                yes(codel.ecn)
            ),
        ),
        QdiscKind::Drr | QdiscKind::Qfq => {
            return refused(
                kind.name(),
                "it has sections for the classes and none for filters, without which these drop every packet",
            );
        }
        QdiscKind::Hfsc { .. }
        | QdiscKind::Htb { .. }
        | QdiscKind::Prio(_)
        | QdiscKind::Pie(_)
        | QdiscKind::Red(_)
        | QdiscKind::Choke(_)
        | QdiscKind::Cake(_)
        | QdiscKind::Pfifo { limit: None }
        | QdiscKind::Mq
        | QdiscKind::Netem(_)
        | QdiscKind::Other { .. } => {
            return refused(kind.name(), "it has no section, or no keys, that say this");
        }
    };
    let parent = if *parent == Handle::ROOT { "root".to_string() } else { parent.to_string() };
    let _ = write!(text, "\n[{name}]\nParent={parent}\nHandle={:04x}\n{keys}", handle.major());
    Ok(())
}
