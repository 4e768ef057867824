//! Borrowing in htb, as limits of classes.
//!
//! A class sends or lends its `rate` independently of the classes above it. Its leaves send more
//! only if a class above has some of its own `rate` left, and never more than its `ceil`
//! (`htb_class_mode`, `htb_activate_prios`). A class at the top borrows nothing and is limited to
//! its `rate`. A class does not limit the own rates of those below it.

use laxity::units::{Nanos, Rate};

use super::flooded::flooded;
use super::{cburst, htb, own, quantum};
use crate::assembly::{Assembly, Node};
use crate::notes::Notes;
use crate::setup::Htb;
use crate::toml::{Curve, Curves};

/// How far the ratios of rates may be from those that htb sends at, in parts of a hundred.
const NEAR: f64 = 0.01;

/// Gives the classes the curves of htb's lending, and notes where they differ from what is written.
pub(crate) fn lend(setup: &mut Assembly, r2q: u32, notes: &mut Notes) {
    let own = own_rates(setup);
    setup.unshaped = unshaped(setup, &own);
    for (class, own) in setup.classes.iter_mut().zip(&own) {
        if let Some(htb) = htb(class) {
            class.curves = curves(class, htb, *own, notes);
        }
    }
    let Some(sent) = flooded(setup, r2q) else { return };
    if !shares_come_to(setup, &sent) {
        share_as_sent(setup, &sent, r2q, notes);
    }
    note_cut(setup, &sent, r2q, notes);
}

/// The rate of each class's leaves without loans from above: their own rates, and its loans.
fn own_rates(setup: &Assembly) -> Vec<Rate> {
    let count = setup.classes.len();
    let (mut sum, mut most) = (vec![Rate(0); count], vec![Rate(0); count]);
    // A class stands before those below it.
    for (at, class) in setup.classes.iter().enumerate().rev() {
        let Some(htb) = htb(class) else { continue };
        (sum[at], most[at]) = if class.is_leaf {
            (own(htb), htb.ceil)
        } else {
            let sum = sum[at].max(own(htb).min(most[at]));
            (sum, sum.max(htb.ceil.min(most[at])))
        };
        if let Some(parent) = class.parent {
            sum[parent] = Rate(sum[parent].0.saturating_add(sum[at].0));
            most[parent] = Rate(most[parent].0.saturating_add(most[at].0));
        }
    }
    sum
}

/// The first class that lets through more than it is to, if one does.
fn unshaped(setup: &Assembly, own: &[Rate]) -> Option<String> {
    setup.classes.iter().zip(own).find_map(|(class, own)| {
        let limit = limit(class, htb(class)?);
        (*own > limit).then(|| format!("{} lets {own} through, not {limit}", class.class.handle))
    })
}

/// What limits a class if those below it have no more of their own.
fn limit(class: &Node, htb: &Htb) -> Rate {
    if class.parent.is_some() { htb.ceil } else { own(htb) }
}

/// The curves of a class, which has `lent` of its own with what is below it.
fn curves(class: &Node, htb: &Htb, lent: Rate, notes: &mut Notes) -> Curves {
    let Htb { rate, ceil, .. } = *htb;
    let (handle, line) = (class.class.handle, class.origin.line);
    if ceil < rate {
        let text =
            format!("{handle}: its ceil of {ceil} is below its rate of {rate} and limits it");
        notes.reading(line, text);
    }
    let limit = limit(class, htb);
    if limit < ceil {
        let text = format!(
            "{handle}: its ceil of {ceil} has no effect: at the top there is nobody to borrow from, so it is limited to \
             its rate of {rate}"
        );
        notes.reading(line, text);
    }
    if lent > limit {
        let text = format!(
            "{handle} does not limit what is below it to {limit}: htb gives each class its rate whatever is above it, \
             and these come to {lent}"
        );
        notes.reading(line, text);
    }
    let linear = |rate| Some(Curve::Linear(rate));
    Curves {
        real_time: linear(own(htb)),
        link_share: linear(own(htb).max(lent)),
        upper_limit: linear(limit.max(lent)),
    }
}

/// Whether sharing in proportion to the rates comes to the same, while all classes have packets.
fn shares_come_to(setup: &Assembly, sent: &[Rate]) -> bool {
    let rate = |curve: Option<Curve>| curve.map_or(0.0, |curve| curve.rate().0 as f64);
    let (mut least, mut most) = (vec![0.0; sent.len()], vec![0.0; sent.len()]);
    let top = sent.len();
    // How often its share a class below each one sends, from what those have that might have more
    // to what those have that might have less; the last is of the classes at the top.
    let mut levels = vec![(0.0f64, f64::INFINITY); sent.len() + 1];
    for (at, class) in setup.classes.iter().enumerate().rev() {
        let Curves { real_time, link_share, upper_limit } = class.curves;
        let limit = rate(upper_limit);
        (least[at], most[at]) =
            if class.is_leaf { (rate(real_time), limit) } else { (least[at], limit.min(most[at])) };
        if let Some(parent) = class.parent {
            least[parent] += least[at];
            most[parent] += most[at];
        }
        let sent = sent[at].0 as f64;
        let level = sent / rate(link_share).max(1.0);
        let (low, high) = &mut levels[class.parent.unwrap_or(top)];
        if sent > least[at] * (1.0 + NEAR) {
            *low = low.max(level);
        }
        if sent < most[at] * (1.0 - NEAR) {
            *high = high.min(level);
        }
    }
    levels.into_iter().all(|(low, high)| low <= high * (1.0 + NEAR))
}

/// Has the classes share in proportion to what they send while all of them have packets.
fn share_as_sent(setup: &mut Assembly, sent: &[Rate], r2q: u32, notes: &mut Notes) {
    for (class, sent) in setup.classes.iter_mut().zip(sent) {
        class.curves.link_share = Some(Curve::Linear(*sent));
    }
    let mut leaves = setup.leaves().filter_map(|class| {
        let htb = htb(class)?;
        Some((class, htb.prio, quantum(htb, r2q)))
    });
    let Some((first, priority, bytes)) = leaves.next() else { return };
    let other = leaves.find(|(_, other, quantum)| *other != priority || *quantum != bytes);
    let (line, turns) = match other {
        Some((other, of_other, _)) if of_other != priority => {
            (other.origin.line, "leaves of a lower prio borrow first".into())
        }
        Some((other, _, of_other)) => (
            other.origin.line,
            format!(
                "leaves borrow in turns, {bytes} bytes of {} and {of_other} of {}, whatever classes are between",
                first.class.handle, other.class.handle
            ),
        ),
        None => (first.origin.line, format!("leaves borrow in turns, {bytes} bytes of each")),
    };
    let text = format!(
        "prio, quantum: {turns}, so `link-share` is what each sends while all of them have packets. While some have none, \
         the others have more, from their `real-time` to their `upper-limit`, but not in the same shares as in Linux"
    );
    notes.reading(line, text);
}

/// Notes leaves whose turns end early because a class reaches its `ceil`.
fn note_cut(setup: &Assembly, sent: &[Rate], r2q: u32, notes: &mut Notes) {
    let is_cut = |leaf: &usize| {
        let Some(leaf_htb) = htb(&setup.classes[*leaf]) else { return false };
        let up = std::iter::successors(Some(*leaf), |at| setup.classes[*at].parent);
        let way: Vec<&Htb> = up.filter_map(|at| htb(&setup.classes[at])).collect();
        let lent = |at: usize| way[at + 1..].iter().map(|above| own(above)).max();
        let ends = |at: usize| {
            let class = way[at];
            Some(class.ceil) < lent(at) && u64::from(cburst(class)) < quantum(leaf_htb, r2q)
        };
        sent[*leaf] > own(leaf_htb) && (0..way.len()).any(ends)
    };
    let leaves = (0..setup.classes.len()).filter(|at| setup.classes[*at].is_leaf);
    let mut cut = leaves.filter(is_cut);
    let (Some(first), more) = (cut.next(), cut.count()) else { return };
    let class = &setup.classes[first];
    let others = if more > 0 { format!(" and {more} more") } else { String::new() };
    let text = format!(
        "{}{others}: a `ceil` below what is lent, with a `cburst` below the quantum, ends turns early, so who gets what is \
         left over hangs on bursts: each has at least its rate and at most its ceil, as in the plan, but not the plan's \
         share",
        class.class.handle
    );
    notes.not_mapped(class.origin.line, text);
}

/// Notes what else of htb makes delays and shares others than the plan's, on a link of this rate.
pub(crate) fn note_rest(setup: &Assembly, link: Rate, notes: &mut Notes) {
    let leaves = || setup.leaves().filter_map(|class| Some((class, htb(class)?)));
    let mut priorities = leaves().map(|(class, htb)| (class.origin.line, htb.prio));
    let first = priorities.next().map(|(_, priority)| priority);
    if let Some((line, _)) = priorities.find(|(_, priority)| Some(*priority) != first) {
        let text = "prio: of classes within their rates htb asks those of a lower prio first, of which a plan knows nothing";
        notes.not_mapped(line, text);
    }
    let bursts = || {
        let bursts = leaves().map(|(class, htb)| (class, htb.burst.max(htb.cburst)));
        bursts.filter(|(_, burst)| *burst > 0)
    };
    if let Some((class, burst)) = bursts().next() {
        let all: u128 = bursts().map(|(_, burst)| u128::from(burst)).sum();
        let time = all * 8_000_000_000 / u128::from(link.0.max(1));
        let time =
            Nanos(u64::try_from(time.div_ceil(10_000)).unwrap_or(u64::MAX / 10_000) * 10_000);
        let text = format!(
            "burst: after a pause a class of htb sends that much at once, such as {} bytes of {}; with all of them \
             others may wait {time} longer than the plan says",
            burst, class.class.handle
        );
        notes.not_mapped(class.origin.line, text);
    }
}
