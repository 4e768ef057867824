//! Who lends to whom in htb, as limits of classes.
//!
//! A class sends or lends its `rate` whatever is above it, and its leaves send more only where a class above it has some of its own `rate` left;
//! its `ceil` ends both (`htb_class_mode`, `htb_activate_prios`). So a class at the top, which has nobody to borrow from,
//! is limited to its `rate`, and a class that may send less than those below it have of their own does not limit them.

use laxity::units::{Nanos, Rate};

use super::Class;
use crate::curves::{Curve, Curves};
use crate::notes::Notes;
use crate::setup::{self, Setup};

/// The least and the greatest quantum that Linux makes of a rate (`htb_change_class`).
const QUANTA: (u64, u64) = (1_000, 200_000);

/// Gives the classes the curves that htb's lending comes to, and tells where these are not what is written.
pub fn lend(setup: &mut Setup, notes: &mut Notes) {
    let own = own_rates(setup);
    let lent: Vec<Curves> = setup
        .classes
        .iter()
        .zip(&own)
        .map(|(class, own)| match &class.htb {
            Some(htb) => curves(class, htb, *own, notes),
            None => class.curves,
        })
        .collect();
    setup.classes.iter_mut().zip(lent).for_each(|(class, curves)| class.curves = curves);
}

/// What the leaves of each class send whatever is above it: of their own, or of what is its own to lend.
fn own_rates(setup: &Setup) -> Vec<Rate> {
    let count = setup.classes.len();
    let (mut own, mut most) = (vec![Rate(0); count], vec![Rate(0); count]);
    // A class stands before those below it.
    for (at, class) in setup.classes.iter().enumerate().rev() {
        let Some(htb) = &class.htb else { continue };
        (own[at], most[at]) = match class.is_leaf {
            true => (htb.own(), htb.ceil),
            false => {
                let own = own[at].max(htb.own().min(most[at]));
                (own, own.max(htb.ceil.min(most[at])))
            }
        };
        if let Some(parent) = class.parent {
            own[parent] = Rate(own[parent].0.saturating_add(own[at].0));
            most[parent] = Rate(most[parent].0.saturating_add(most[at].0));
        }
    }
    own
}

fn curves(class: &setup::Class, htb: &Class, own: Rate, notes: &mut Notes) -> Curves {
    let Class { rate, ceil, .. } = *htb;
    let (handle, line) = (class.handle, class.line);
    if ceil < rate {
        let text =
            format!("{handle}: its ceil of {ceil} is below its rate of {rate} and limits it");
        notes.reading(line, text);
    }
    let limit = match class.parent {
        Some(_) => ceil,
        None => htb.own(),
    };
    if limit < ceil {
        let text = format!(
            "{handle}: its ceil of {ceil} has no effect: at the top there is nobody to borrow from, so it is limited to \
             its rate of {rate}"
        );
        notes.reading(line, text);
    }
    if own > limit {
        let text = format!(
            "{handle} does not limit what is below it to {limit}: htb gives each class its rate whatever is above it, \
             and these come to {own}"
        );
        notes.reading(line, text);
    }
    let linear = |rate| Some(Curve::Linear(rate));
    Curves {
        real_time: linear(htb.own()),
        link_share: linear(htb.own().max(own)),
        upper_limit: linear(limit.max(own)),
    }
}

/// Tells what else of htb makes delays and shares others than the plan's, on a link of this rate.
pub fn said(setup: &Setup, r2q: u32, link: Rate, notes: &mut Notes) {
    let leaves = || {
        let leaves = setup.classes.iter().filter(|class| class.is_leaf);
        leaves.filter_map(|class| Some((class, class.htb.as_ref()?)))
    };
    let Some((first, of_first)) = leaves().next() else { return };
    if let Some((other, _)) = leaves().find(|(_, htb)| htb.priority != of_first.priority) {
        let text = "prio: htb asks classes of a lower prio first, among those within their rates and among those that \
                    borrow; a plan shares what is left over in proportion to the rates";
        notes.not_mapped(other.line, text);
    }
    let quantum = |htb: &Class| {
        let by_rate = htb.rate.0 / 8 / u64::from(r2q.max(1));
        htb.quantum.map_or(by_rate.clamp(QUANTA.0, QUANTA.1), u64::from)
    };
    let odd = |(_, htb): &(&setup::Class, &Class)| {
        let (own, others) = (
            u128::from(quantum(htb)) * u128::from(of_first.rate.0),
            u128::from(quantum(of_first)) * u128::from(htb.rate.0),
        );
        own.abs_diff(others) * 10 > own.max(others)
    };
    if let Some((other, htb)) = leaves().find(odd) {
        let text = format!(
            "quantum: htb shares what is left over by quanta, {} bytes of {} and {} of {}; a plan in proportion to the \
             rates",
            quantum(of_first),
            first.handle,
            quantum(htb),
            other.handle
        );
        notes.not_mapped(other.line, text);
    }
    let bursts = || leaves().filter_map(|(class, htb)| Some((class, htb.burst?)));
    if let Some((class, burst)) = bursts().next() {
        let all: u128 = bursts().map(|(_, burst)| u128::from(burst.0)).sum();
        let time = all * 8_000_000_000 / u128::from(link.0.max(1));
        let time =
            Nanos(u64::try_from(time.div_ceil(10_000)).unwrap_or(u64::MAX / 10_000) * 10_000);
        let text = format!(
            "burst: after a pause a class of htb sends that much at once, such as {} bytes of {}; with all of them \
             others may wait {time} longer than the plan says",
            burst.0, class.handle
        );
        notes.not_mapped(class.line, text);
    }
}
