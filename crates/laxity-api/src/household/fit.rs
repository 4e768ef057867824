//! The search for promises that hold.

use std::fmt;
use std::path::Path;

use laxity::units::Rate;
use laxity_plan::{Plan, PlanError};

use super::draft::{Draft, Promises, delay_needs, rate_each};
use super::{Application, Direction, Household, HouseholdPlan};
use crate::check;

/// Parts of the best quality that are tried, in percent; with the last one every application has
/// the least that it needs.
const QUALITIES: [u64; 9] = [100, 80, 60, 45, 33, 25, 15, 8, 0];
/// By how much longer deadlines are tried, in tenths.
const PATIENCES: [u64; 5] = [10, 15, 20, 30, 40];
/// Shares that are tried, in percent of the link: the smallest that holds is taken.
const SHARES: [u64; 15] = [5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75];
/// Of the link, what contracts may take at most: the rest is for everything without a deadline.
const MOST_CONTRACTED: u64 = 50;

/// The plan with the best quality, then the shortest deadlines, then the smallest share that is
/// admitted; `None` if none is.
pub(super) fn fitting(
    household: &Household,
    direction: Direction,
) -> Result<Option<HouseholdPlan>, PlanError> {
    let rate = household.side(direction).rate();
    for quality in QUALITIES {
        let contracted = contracted(household, direction, quality);
        if contracted > u128::from(rate.0) * u128::from(MOST_CONTRACTED) / 100 {
            continue;
        }
        for patience in PATIENCES {
            let draft = |share| Draft {
                household,
                direction,
                promises: Promises { quality, patience, share },
            };
            let least = smallest_share(contracted, rate);
            if let Some(plan) = smallest(least, |share| admitted(&draft(share)))? {
                return Ok(Some(plan));
            }
        }
    }
    Ok(None)
}

/// The rate of all contracts, in bits per second.
fn contracted(household: &Household, direction: Direction, quality: u64) -> u128 {
    let needs = delay_needs(household, direction).into_iter();
    let rates = needs.map(|(_, need)| {
        let each = rate_each(&need, direction, quality);
        u128::from(each.0) * u128::from(need.uses(household.devices))
    });
    rates.sum()
}

/// The place of the first share that leaves some room beside contracts, for packets beyond them.
fn smallest_share(contracted: u128, rate: Rate) -> usize {
    let holds = |share: &u64| u128::from(rate.0) * u128::from(*share) >= contracted * 125;
    SHARES.iter().position(holds).unwrap_or(SHARES.len() - 1)
}

/// The plan with the smallest share from the one at `least` on that `plan` gives one for: a larger
/// share only makes bounds shorter.
fn smallest(
    least: usize,
    plan: impl Fn(u64) -> Result<Option<HouseholdPlan>, PlanError>,
) -> Result<Option<HouseholdPlan>, PlanError> {
    let (mut from, mut to) = (least, SHARES.len() - 1);
    let Some(mut found) = plan(SHARES[to])? else { return Ok(None) };
    while from < to {
        let middle = (from + to) / 2;
        match plan(SHARES[middle])? {
            Some(smaller) => (to, found) = (middle, smaller),
            None => from = middle + 1,
        }
    }
    Ok(Some(found))
}

/// The plan of a draft, if it is admitted.
fn admitted(draft: &Draft<'_>) -> Result<Option<HouseholdPlan>, PlanError> {
    if !draft.is_possible() {
        return Ok(None);
    }
    let text = draft.text();
    let plan = Plan::parse(&text, draft.direction.word(), Path::new(""))?;
    // One link is not refused as a question.
    let Ok(checked) = check(&plan) else { return Ok(None) };
    let is_admitted = checked.admitted() == Some(true);
    let direction = draft.direction;
    Ok(is_admitted.then_some(HouseholdPlan { direction, text, plan, checked }))
}

/// A link is too small for what matters: what would fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct Misfit {
    /// The direction that is too small.
    pub direction: Direction,
    /// What the link carries.
    pub link: Rate,
    /// What a link has to carry at least, to a hundredth more; `None` if none is fast enough.
    pub needed: Option<Rate>,
    /// What matters and has a deadline.
    pub applications: Vec<Application>,
    /// Those that fit by themselves.
    pub fitting: Vec<Application>,
    /// Devices that are in use at the same time.
    pub devices: u32,
    /// The most devices that fit, if there are any.
    pub fitting_devices: Option<u32>,
}

impl Misfit {
    pub(super) fn new(household: &Household, direction: Direction) -> Result<Misfit, PlanError> {
        let Household { applications, devices, .. } = household;
        let link = household.side(direction).link;
        let fits = |link: Rate, devices: u32, applications: &[Application]| {
            let applications = applications.to_vec();
            let mut other = Household { devices, applications, ..household.clone() };
            match direction {
                Direction::Up => other.up.link = link,
                Direction::Down => other.down.link = link,
            }
            fitting(&other, direction).map(|plan| plan.is_some())
        };
        let delayed =
            delay_needs(household, direction).into_iter().map(|(application, _)| application);
        let delayed: Vec<Application> =
            delayed.filter(|one| *one != Application::LOOKUPS).collect();
        let mut alone = Vec::new();
        for application in &delayed {
            if delayed.len() > 1 && fits(link, *devices, &[*application])? {
                alone.push(*application);
            }
        }
        Ok(Misfit {
            direction,
            link,
            needed: needed(link, |link| fits(link, *devices, applications))?,
            fitting: alone,
            applications: delayed,
            devices: *devices,
            fitting_devices: most(*devices, |devices| fits(link, devices, applications))?,
        })
    }
}

/// The least rate above `rate` that fits.
fn needed(
    rate: Rate,
    fits: impl Fn(Rate) -> Result<bool, PlanError>,
) -> Result<Option<Rate>, PlanError> {
    let mut below = rate.0;
    let mut above = loop {
        let twice = below.saturating_mul(2);
        if twice > Rate::LIMIT.0 {
            return Ok(None);
        }
        if fits(Rate(twice))? {
            break twice;
        }
        below = twice;
    };
    while above - below > below / 100 + 1 {
        let middle = below + (above - below) / 2;
        if fits(Rate(middle))? { above = middle } else { below = middle }
    }
    Ok(Some(Rate(above.next_multiple_of(10_000))))
}

/// The most devices below `devices` that fit.
fn most(
    devices: u32,
    fits: impl Fn(u32) -> Result<bool, PlanError>,
) -> Result<Option<u32>, PlanError> {
    let (mut below, mut above) = (0, devices);
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if fits(middle)? { below = middle } else { above = middle }
    }
    Ok((below > 0).then_some(below))
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Misfit { direction, link, devices, .. } = self;
        let words =
            |all: &[Application]| all.iter().map(|one| one.word).collect::<Vec<_>>().join(", ");
        let matters = match &self.applications[..] {
            [] => Application::LOOKUPS.word.into(),
            applications => words(applications),
        };
        write!(
            f,
            "{link} {direction} is too little to promise {matters} of {devices} devices a delay"
        )?;
        if let Some(needed) = self.needed {
            write!(f, ": that needs {needed}")?;
        }
        match self.fitting_devices {
            Some(1) => write!(f, "; with 1 device it fits")?,
            Some(devices) => write!(f, "; with {devices} devices it fits")?,
            None => {}
        }
        match &self.fitting[..] {
            [] => Ok(()),
            alone => write!(f, "; alone would fit {}", words(alone)),
        }
    }
}
