//! Traps of service curves, in sentences: what will happen, and what to write instead.

use std::fmt;

use laxity::admit::hfsc::{Excess, TrapKind};
use laxity::packet::ClassId;
use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::Plan;
use serde::Serialize;

use super::excess::ExcessView;
use crate::admission::sentences::two_rates;
use crate::quantity;

/// A remark on a plan's curves. `Display` says it in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remark {
    /// The class; absent for the link.
    pub class: Option<String>,
    /// What it is, as one word.
    pub kind: &'static str,
    /// Whether it is only a matter of bursts, as curves that buy delay without bandwidth have them.
    pub passing: bool,
    /// By how much one curve exceeds another, where that is what it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excess: Option<ExcessView>,
    /// What will happen, and what to write instead.
    pub sentence: String,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.passing { "Note" } else { "Trap" };
        write!(f, "{word}: {}", self.sentence)
    }
}

impl Remark {
    /// All remarks on a plan under H-FSC: traps before notes, by kind, in the order of its classes.
    pub fn all(plan: &Plan) -> Vec<Remark> {
        let mut remarks: Vec<_> = plan
            .hfsc_system()
            .traps()
            .into_iter()
            .filter(|trap| !is_rounding(&trap.kind))
            .map(|trap| Remark {
                class: trap.class.map(|class| plan.classes[class.index()].name.clone()),
                kind: word(&trap.kind),
                passing: is_passing(&trap.kind),
                excess: excess(&trap.kind).map(ExcessView::from),
                sentence: Sentence { plan, class: trap.class }.of(&trap.kind),
            })
            .collect();
        remarks.sort_by_key(|remark| (remark.passing, remark.kind));
        remarks
    }

    /// Remarks line by line; where there are many of a kind, the first ones and how many more.
    pub fn lines(remarks: &[Remark]) -> Vec<String> {
        let alike = remarks.chunk_by(|a, b| (a.passing, a.kind) == (b.passing, b.kind));
        let lines = alike.flat_map(|remarks| {
            let (shown, more) = remarks.split_at(remarks.len().min(MOST_OF_A_KIND));
            let more = (!more.is_empty()).then(|| {
                let word = if shown[0].passing { "Note" } else { "Trap" };
                format!(
                    "{word}: {} more like these ({}).",
                    quantity::count(more.len() as u64),
                    shown[0].kind
                )
            });
            shown.iter().map(Remark::to_string).chain(more)
        });
        lines.collect()
    }
}

/// Remarks of one kind that are shown.
const MOST_OF_A_KIND: usize = 5;

/// Whether it comes from rates that are rounded, to whole bits a second or to the kernel's units: a packet is due at
/// most a microsecond later, or each share gets at least 50 of 51 parts of what is written.
fn is_rounding(kind: &TrapKind) -> bool {
    match kind {
        TrapKind::BurstBelowPacket { delay, due: Some(due), .. } => {
            due.saturating_sub(*delay) <= Nanos(1_000)
        }
        TrapKind::SharesAboveParent { excess: Excess::Lasting { asked, given } } => {
            u128::from(asked.0) * 50 <= u128::from(given.0) * 51
        }
        _ => false,
    }
}

/// Bursts above a share are what concave curves are for; above an upper limit they are not.
fn is_passing(kind: &TrapKind) -> bool {
    let limit = matches!(kind, TrapKind::LimitBelowRealTime { .. });
    !limit && matches!(excess(kind), Some(Excess::Passing(_)))
}

fn excess(kind: &TrapKind) -> Option<Excess> {
    match kind {
        TrapKind::RealTimeAboveShare { excess, .. }
        | TrapKind::SharesAboveParent { excess }
        | TrapKind::LimitBelowRealTime { excess } => Some(*excess),
        _ => None,
    }
}

fn word(kind: &TrapKind) -> &'static str {
    match kind {
        TrapKind::RealTimeAboveShare { .. } => "real-time-above-share",
        TrapKind::SharesAboveParent { .. } => "shares-above-parent",
        TrapKind::LimitBelowRealTime { .. } => "limit-below-real-time",
        TrapKind::LimitBelowShare { .. } => "limit-below-share",
        TrapKind::LimitAboveAncestor { .. } => "limit-above-ancestor",
        TrapKind::LimitStartsLate { .. } => "limit-starts-late",
        TrapKind::NoShare => "no-share",
        TrapKind::Starved => "starved",
        TrapKind::BurstBelowPacket { .. } => "burst-below-packet",
        TrapKind::ArrivalAboveRealTime { .. } => "arrival-above-real-time",
        TrapKind::LimitsIdleLink { .. } => "limits-idle-link",
    }
}

struct Sentence<'a> {
    plan: &'a Plan,
    class: Option<ClassId>,
}

impl Sentence<'_> {
    fn name(&self, class: ClassId) -> &str {
        &self.plan.classes[class.index()].name
    }

    fn of(&self, kind: &TrapKind) -> String {
        let name = self.class.map_or("the link", |class| self.name(class));
        let rate = |rate: Rate| quantity::rate(rate.0 as f64);
        let time = |time: Nanos| quantity::time(time.0 as f64);
        let bytes = |size: Bytes| quantity::count(size.0);
        match kind {
            TrapKind::RealTimeAboveShare { excess, alone } => self.above_share(excess, *alone),
            TrapKind::SharesAboveParent { excess } => {
                let (asked, given) = ExcessView::from(*excess).sums();
                let whose = match self.class {
                    Some(_) => format!("the classes in {name}"),
                    None => "the classes at the top".to_string(),
                };
                format!(
                    "the link-shares of {whose} sum to {asked}, but {name} has {given}: only their \
                     proportions count, and each gets less than is written. Lower them to what \
                     there is."
                )
            }
            TrapKind::LimitBelowRealTime { excess } => {
                let (asked, given) = ExcessView::from(*excess).sums();
                format!(
                    "{name} has an upper limit of {given}, but is promised {asked} by real-time \
                     curves, which no limit holds back. Lower those if the limit is to hold, or \
                     raise the limit to say what will be."
                )
            }
            TrapKind::LimitBelowShare { limit, share } => {
                let (limit, share) = two_rates(*limit, *share);
                format!(
                    "{name} has an upper limit of {limit}, below its own link-share of {share}, \
                     which it will never get; its siblings share the rest. Lower `link-share` to \
                     the limit."
                )
            }
            TrapKind::LimitAboveAncestor { ancestor } => {
                let above = self.name(*ancestor);
                format!(
                    "the upper limit of {name} is nowhere below that of {above}, of which {name} is \
                     a part and which holds it back first. Leave it out, or lower it."
                )
            }
            TrapKind::LimitStartsLate { delay } => format!(
                "the upper limit of {name} begins with nothing for {}: so long it has to wait \
                 whenever it becomes active, even on an idle link. Write the rate alone.",
                time(*delay)
            ),
            TrapKind::NoShare => format!(
                "{name} has a real-time curve alone: it never sends faster than that, however idle \
                 the link. Write `curve` in its place, or add `link-share`, unless that is meant."
            ),
            TrapKind::Starved => format!(
                "{name} has no real-time curve, and those of others take the whole link in the long \
                 run: as long as they are busy it gets nothing. Give it one, or lower theirs."
            ),
            TrapKind::BurstBelowPacket { burst, delay, packet, due } => {
                let due = due.map_or("never".to_string(), |due| format!("after {}", time(due)));
                format!(
                    "the real-time curve of {name} serves {} bytes within its first {}, but a \
                     packet may have {}: that is due {due}. Ask for a burst of the largest packet, \
                     or say in `arrival` that packets are smaller.",
                    bytes(*burst),
                    time(*delay),
                    bytes(*packet)
                )
            }
            TrapKind::ArrivalAboveRealTime { arrival, real_time } => {
                let (arrival, real_time) = two_rates(*arrival, *real_time);
                format!(
                    "up to {arrival} of {name} may arrive in the long run, but its real-time curve \
                     serves {real_time}: no delay is bounded. Raise the one or lower the other."
                )
            }
            TrapKind::LimitsIdleLink { most } => format!(
                "with packets waiting in every class only {} of the link's {} are used in the long \
                 run, because of upper limits and of leaves with real-time curves alone. Leave a \
                 limit out, or add a `link-share`, unless that is meant.",
                rate(*most),
                rate(self.plan.link.rate)
            ),
        }
    }

    fn above_share(&self, excess: &Excess, alone: Option<ClassId>) -> String {
        let Some(class) = self.class else { return String::new() };
        let name = self.name(class);
        let (asked, given) = ExcessView::from(*excess).sums();
        let lasting = matches!(excess, Excess::Lasting { .. });
        if self.plan.classes[class.index()].is_leaf() {
            let (until, advice) = match lasting {
                true => ("as long as it is busy", "Raise `link-share`, or write one `curve`."),
                false => (
                    "after such a burst, until its siblings have caught up",
                    "Write one `curve` for both if that is not meant.",
                ),
            };
            return format!(
                "the real-time curve of {name} is {asked}, its link-share {given}. What it gets by \
                 the one counts for the other, so it gets nothing of what is left over {until}. \
                 {advice}"
            );
        }
        let alone =
            alone.map_or(String::new(), |leaf| format!(" ({} alone has more)", self.name(leaf)));
        let curves = format!(
            "the real-time curves of the leaves in {name} sum to {asked}{alone}, its link-share is \
             {given}."
        );
        match lasting {
            true => format!(
                "{curves} They get it all the same, at the cost of the classes beside {name}. Raise \
                 `link-share` of {name}, or lower the curves."
            ),
            false => format!(
                "{curves} Such bursts are sent at the cost of the classes beside {name}, which catch \
                 up afterwards."
            ),
        }
    }
}
