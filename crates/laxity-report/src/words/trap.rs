//! Traps of service curves, in sentences: what happens, and what to write instead.

use std::fmt;

use laxity::admit::hfsc::TrapKind;
use laxity::units::{Bytes, Nanos, Rate};
use laxity_answers::link::Trap;
use laxity_answers::reason::Excess;
use serde::Serialize;

use super::reason::{sums, two_rates};
use crate::quantity;

/// A remark on a plan's curves. `Display` says it in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remark {
    /// The class; absent for the link.
    pub class: Option<String>,
    /// The word of its kind.
    pub kind: &'static str,
    /// Whether it is only a matter of bursts, as curves that buy delay without bandwidth have them.
    pub passing: bool,
    /// By how much one curve exceeds another, where that is what it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excess: Option<Excess>,
    /// What happens, and what to write instead.
    pub sentence: String,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.passing { "Note" } else { "Trap" };
        write!(f, "{word}: {}", self.sentence)
    }
}

impl From<&Trap> for Remark {
    fn from(trap: &Trap) -> Remark {
        Remark {
            class: trap.class.clone(),
            kind: trap.name(),
            passing: trap.is_passing(),
            excess: trap.excess(),
            sentence: sentence(trap),
        }
    }
}

/// Remarks on traps line by line. Of many of a kind the first ones are shown, and their number.
pub fn remarks(traps: &[Trap]) -> Vec<String> {
    let alike = traps.chunk_by(|a, b| (a.is_passing(), a.name()) == (b.is_passing(), b.name()));
    let lines = alike.flat_map(|traps| {
        let (shown, more) = traps.split_at(traps.len().min(MOST_OF_A_KIND));
        let more = (!more.is_empty()).then(|| {
            let word = if shown[0].is_passing() { "Note" } else { "Trap" };
            let (count, name) = (quantity::count(more.len() as u64), shown[0].name());
            format!("{word}: {count} more like these ({name}).")
        });
        shown.iter().map(|trap| Remark::from(trap).to_string()).chain(more)
    });
    lines.collect()
}

/// The number of remarks of one kind that are shown.
const MOST_OF_A_KIND: usize = 5;

fn sentence(trap: &Trap) -> String {
    let name = trap.class.as_deref().unwrap_or("the link");
    let other = trap.other.as_deref();
    let rate = |rate: Rate| quantity::rate(rate.0 as f64);
    let time = |time: Nanos| quantity::time(time.0 as f64);
    let bytes = |size: Bytes| quantity::count(size.0);
    match &trap.kind {
        TrapKind::RealTimeAboveShare { excess, .. } => above_share(trap, (*excess).into()),
        TrapKind::SharesAboveParent { excess } => {
            let (asked, given) = sums((*excess).into());
            let whose = match trap.class {
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
            let (asked, given) = sums((*excess).into());
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
        TrapKind::LimitAboveAncestor { .. } => {
            let above = other.unwrap_or_default();
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
            rate(trap.link)
        ),
    }
}

/// Of a leaf, or of the leaves in a class, that are promised more than the share.
fn above_share(trap: &Trap, excess: Excess) -> String {
    let Some(name) = &trap.class else { return String::new() };
    let (asked, given) = sums(excess);
    let lasting = matches!(excess, Excess::Lasting { .. });
    if trap.is_leaf {
        let (until, advice) = if lasting {
            ("as long as it is busy", "Raise `link-share`, or write one `curve`.")
        } else {
            (
                "after such a burst, until its siblings have caught up",
                "Write one `curve` for both if that is not meant.",
            )
        };
        return format!(
            "the real-time curve of {name} is {asked}, its link-share {given}. What it gets by \
             the one counts for the other, so it gets nothing of what is left over {until}. \
             {advice}"
        );
    }
    let alone = trap.other.as_ref();
    let alone = alone.map_or(String::new(), |leaf| format!(" ({leaf} alone has more)"));
    let curves = format!(
        "the real-time curves of the leaves in {name} sum to {asked}{alone}, its link-share is \
         {given}."
    );
    if lasting {
        format!(
            "{curves} They get it all the same, at the cost of the classes beside {name}. Raise \
         `link-share` of {name}, or lower the curves."
        )
    } else {
        format!(
            "{curves} Such bursts are sent at the cost of the classes beside {name}, which catch \
         up afterwards."
        )
    }
}
