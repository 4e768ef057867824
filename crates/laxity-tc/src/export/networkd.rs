//! A file of systemd.network(5), which sets disciplines up and has no filters.

use std::fmt::Write as _;

use crate::linux::Refusal;
use crate::setup::units::micros;
use crate::setup::{Handle, Qdisc, QdiscKind, Setup, Value};

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
    let name = match kind {
        QdiscKind::Tbf(_) => "TokenBucketFilter",
        QdiscKind::Pfifo { limit: Some(_) } => "PFIFO",
        QdiscKind::Bfifo { .. } => "BFIFO",
        QdiscKind::FqCodel(_) => "FairQueueingControlledDelay",
        QdiscKind::CoDel(_) => "ControlledDelay",
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
    let keys: String = kind.parameters().iter().map(|(name, value)| key(name, value)).collect();
    let parent = if *parent == Handle::ROOT { "root".to_string() } else { parent.to_string() };
    let _ = write!(text, "\n[{name}]\nParent={parent}\nHandle={:04x}\n{keys}", handle.major());
    Ok(())
}

/// The line of a parameter.
fn key(name: &str, value: &Value) -> String {
    let key = match (name, value) {
        ("limit", Value::Bytes(_)) => "LimitBytes",
        ("limit", _) => "PacketLimit",
        ("burst", _) => "BurstBytes",
        ("rate", _) => "Rate",
        ("flows", _) => "Flows",
        ("quantum", _) => "QuantumBytes",
        ("target", _) => "TargetSec",
        ("interval", _) => "IntervalSec",
        _ => "ECN",
    };
    match value {
        Value::Rate(rate) => format!("{key}={}\n", rate.0),
        Value::Time(time) => format!("{key}={}us\n", micros(*time)),
        Value::Flag(flag) => format!("{key}={}\n", if *flag { "yes" } else { "no" }),
        value => format!("{key}={}\n", value.number().unwrap_or_default()),
    }
}
