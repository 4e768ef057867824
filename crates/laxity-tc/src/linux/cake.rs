//! Plans of cake as the kernel's. It shapes by itself, takes frames apart, and sorts packets by
//! their code points alone.

use std::net::{IpAddr, Ipv4Addr};

use laxity::sched::cake::Isolation;
use laxity::units::{Nanos, Rate};
use laxity_plan::Plan;
use laxity_plan::classify::Classifier;
use laxity_plan::matching::{Expr, Headers, IpHeaders};
use laxity_plan::model::{CakeSpec, Class, LinkSpec, Police};

use super::machine::Linux;
use super::refusal::Refusal;
use crate::setup::cake::{Cake, OVERHEADS};
use crate::setup::units::micros;
use crate::setup::{Handle, Qdisc, QdiscKind, Setup};

/// The queues of a tin of the kernel's (net/sched/sch_cake.c, CAKE_QUEUES).
const QUEUES: usize = 1_024;
/// How many code points there are.
const CODE_POINTS: u8 = 64;

/// Gives a plan the kernel's numbers.
pub(super) fn round(
    link: &mut LinkSpec,
    spec: &mut CakeSpec,
    linux: &Linux,
    remarks: &mut Vec<String>,
) {
    let asked = spec.rate.unwrap_or(link.rate).min(link.rate);
    let rate = Rate((asked.0 / 8 * 8).max(8));
    if rate != asked {
        let text =
            format!("cake has {rate} instead of {asked}: the kernel counts whole bytes a second.");
        remarks.push(text);
    }
    if spec.settings.queues != QUEUES {
        let text = format!("A tin has {QUEUES} queues in the kernel, whatever `flows` says.");
        remarks.push(text);
    }
    if spec.limit.is_some() {
        let text = "`limit` is left out: the kernel counts the memory that packets take.";
        remarks.push(text.into());
    }
    link.rate = rate;
    link.stall = linux.timer;
    let settings = laxity::sched::cake::CakeSettings {
        queues: QUEUES,
        rtt: Nanos(u64::from(micros(spec.settings.rtt).max(1)) * 1_000),
        ..spec.settings
    };
    *spec = CakeSpec { rate: Some(rate), limit: None, settings, ..*spec };
}

/// The set-up of a plan in the kernel's numbers.
pub(super) fn setup(plan: &Plan, spec: &CakeSpec, handle: Handle) -> Result<Setup, Refusal> {
    sorted_by_code_points(plan, spec)?;
    let settings = &spec.settings;
    let overhead = Some(plan.link.overhead).filter(|of| *of != laxity::overhead::Overhead::NONE);
    if let Some((bytes, least)) = overhead.as_ref().map(Cake::from_ip)
        && !(OVERHEADS.contains(&bytes) && least <= OVERHEADS.end().unsigned_abs())
    {
        return Err(Refusal::new(
            "`overhead` of the link",
            format!("cake adds {} to {} bytes to an IP packet", OVERHEADS.start(), OVERHEADS.end()),
            "write one within these, or run the plan by `laxity live`",
        ));
    }
    let has_hosts = !matches!(settings.isolation, Isolation::Flowblind | Isolation::Flows);
    let cake = Cake {
        rate: spec.rate.unwrap_or(plan.link.rate),
        diffserv: settings.diffserv,
        isolation: settings.isolation,
        rtt: settings.rtt,
        // Hosts of a plan are those of the router's own network.
        nat: has_hosts,
        wash: spec.wash,
        ack_filter: settings.ack_filter,
        split_gso: true,
        ingress: settings.ingress,
        overhead,
        memory: 0,
        fwmark: 0,
    };
    let qdisc = Qdisc { handle, parent: Handle::ROOT, kind: QdiscKind::Cake(cake), stab: None };
    Ok(Setup { qdiscs: vec![qdisc], ..Setup::default() })
}

/// Refuses classes that have packets by anything but code points, or by others than those of their
/// tins.
fn sorted_by_code_points(plan: &Plan, spec: &CakeSpec) -> Result<(), Refusal> {
    const INSTEAD: &str = "give each class the code points of its tin (docs/cake.md lists them), or run the plan by \
                           `laxity live`";
    for (_, class) in plan.leaves() {
        let what = format!("`match` of class {}", class.name);
        if class.matching.as_ref().is_some_and(|matching| !is_of_code_points(matching.expr())) {
            let why = "the kernel's cake sorts packets by their code points alone";
            return Err(Refusal::new(what, why, INSTEAD));
        }
        refuse_more(class)?;
    }
    let classifier = Classifier::new(plan);
    for dscp in 0..CODE_POINTS {
        let Some(class) = classifier.class(&headers(dscp)) else { continue };
        let class = &plan.classes[class.index()];
        let [tin, own] = [dscp, class.dscp].map(|dscp| spec.settings.diffserv.tin(dscp));
        if tin != own {
            let name = |tin| spec.settings.diffserv.name(tin);
            return Err(Refusal::new(
                format!("`match` of class {} takes code point {dscp}", class.name),
                format!("that is in the tin {}, and the class in {}", name(tin), name(own)),
                INSTEAD,
            ));
        }
    }
    Ok(())
}

/// Refuses what cake does not do for a class.
fn refuse_more(class: &Class) -> Result<(), Refusal> {
    let refused = |key: &str, why: &str| {
        let what = format!("`{key}` of class {}", class.name);
        Refusal::new(what, why, "leave it out, or run the plan by `laxity live`")
    };
    if class.arrival.is_some() && class.police != Police::Count {
        return Err(refused("police", "the kernel's cake polices nothing"));
    }
    if class.queue.is_some() {
        return Err(refused("queue", "the kernel's cake has queues of its own"));
    }
    Ok(())
}

fn is_of_code_points(expr: &Expr) -> bool {
    match expr {
        Expr::Any | Expr::Dscp(_) => true,
        Expr::Not(inner) => is_of_code_points(inner),
        Expr::All(parts) | Expr::Either(parts) => parts.iter().all(is_of_code_points),
        Expr::Version(_)
        | Expr::Protocol(_)
        | Expr::Port(..)
        | Expr::Address(..)
        | Expr::Ecn(_)
        | Expr::Vlan(_)
        | Expr::Pcp(_)
        | Expr::Tagged(_)
        | Expr::Host(_) => false,
    }
}

/// The headers of a packet. Only its code point matters.
fn headers(dscp: u8) -> Headers {
    let any = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    let ip = IpHeaders { source: any, destination: any, protocol: 0, dscp, ecn: 0 };
    Headers { ip: Some(ip), ..Headers::default() }
}
