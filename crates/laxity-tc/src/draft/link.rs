//! The link of a plan: its rate, and the class that is the link itself.

use laxity::units::Rate;
use laxity_plan::error::Fault;

use crate::assembly::{Assembly, Discipline, Root};
use crate::notes::Notes;
use crate::toml::Curves;

/// The lowest rate at which a packet of the usual size takes less than an hour.
const LOWEST_RATE: Rate = Rate(4);

/// The rate that is given, or else the limit or the share of the one class at the top.
pub(super) fn link_rate(
    setup: &Assembly,
    root: &Root,
    given: Option<Rate>,
    notes: &mut Notes,
) -> Result<Rate, Fault> {
    let help = "say it with --link-rate, such as --link-rate 10mbit";
    if let (None, Some(shaper)) = (given, &setup.shaper)
        && shaper.rate >= LOWEST_RATE
    {
        let text = format!("the link's rate is {}, that of {}", shaper.rate, shaper.what);
        notes.reading(shaper.line, text);
        return Ok(shaper.rate);
    }
    let (rate, class, what) = match (given, &setup.top()[..]) {
        (None, _) if !root.discipline.has_rates() => {
            let kind = root.discipline.name();
            let message = format!("the link's rate is not known: {kind} has none");
            return Err(Fault::at(&root.span, message).help(help));
        }
        (Some(given), _) if given < LOWEST_RATE => {
            let message = format!("a link of {given} takes more than an hour for one packet");
            return Err(Fault::new(None, message).help(format!("give at least {LOWEST_RATE}")));
        }
        (Some(given), _) => return Ok(given),
        (None, [class]) => {
            let class = &setup.classes[*class];
            let limit = class.curves.upper_limit.map(|curve| (curve, "upper limit"));
            let share = class.curves.link_share.map(|curve| (curve, "share"));
            let guarantee = class.curves.real_time.map(|curve| (curve, "guarantee"));
            let Some((curve, what)) = limit.or(share).or(guarantee) else {
                let fault = Fault::at(&class.origin.span, "the link's rate is not known");
                return Err(fault.help(help));
            };
            (curve.rate(), class, what)
        }
        (None, several) if matches!(root.discipline, Discipline::Htb { .. }) => {
            let limits =
                several.iter().filter_map(|class| setup.classes[*class].curves.upper_limit);
            let sum = limits.fold(0u64, |sum, limit| sum.saturating_add(limit.rate().0));
            let rate = Rate(sum.clamp(LOWEST_RATE.0, Rate::LIMIT.0));
            let text = format!(
                "the link's rate is {rate}, what the {} classes at the top may send together",
                several.len()
            );
            notes.reading(root.line, text);
            return Ok(rate);
        }
        (None, several) => {
            let rates = several.iter().filter_map(|class| {
                let Curves { real_time, link_share, .. } = setup.classes[*class].curves;
                Some(u128::from(link_share.or(real_time)?.rate().0))
            });
            let sum = u64::try_from(rates.sum::<u128>()).unwrap_or(u64::MAX);
            let message = format!(
                "the link's rate is not known: {} classes are at the top, with {} in all",
                several.len(),
                Rate(sum)
            );
            return Err(Fault::at(&root.span, message).help(help));
        }
    };
    if rate < LOWEST_RATE {
        let message =
            format!("the link's rate would be {rate}, the {what} of {}", class.class.handle);
        return Err(Fault::at(&class.origin.span, message).help(help));
    }
    let text = format!("the link's rate is {rate}, the {what} of {}", class.class.handle);
    notes.reading(class.origin.line, text);
    Ok(rate)
}

/// The one class at the top, if those below it share all of the link. The plan needs no class for
/// it.
pub(super) fn the_link(setup: &Assembly, link: Rate, notes: &mut Notes) -> Option<usize> {
    let [only] = setup.top()[..] else { return None };
    let class = &setup.classes[only];
    let limit = class.curves.upper_limit;
    let limits = limit.is_some_and(|limit| limit.linear().is_none_or(|limit| limit < link));
    if class.is_leaf || limits {
        return None;
    }
    notes.reading(
        class.origin.line,
        format!("{} is the link itself, so it is no class", class.class.handle),
    );
    Some(only)
}
