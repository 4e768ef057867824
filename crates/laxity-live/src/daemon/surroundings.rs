//! What else passes, changes or delays the frames of interfaces: looked at before the start.

use laxity::units::Bytes;
use laxity_linux::bypass;
use laxity_linux::interface::{self, Interface, Offload, Surroundings, offload};
use laxity_linux::namespace::Namespace;
use laxity_plan::Plan;
use laxity_plan::matching::Match;

use crate::error::LiveError;
use crate::process::Keeper;

/// A header of Ethernet, and a VLAN tag, in bytes.
const HEADER: u32 = 14;
const TAG: u32 = 4;

/// An interface, and the network namespace that it is in if that is not the caller's.
pub(super) type Place<'a> = (&'a Interface, Option<&'a Namespace>);

/// Makes sure that the kernel does not pass frames between these interfaces as well, but by the
/// bridge of a bypass, and says where it takes frames for itself.
///
/// # Errors
/// If frames would leave twice.
pub(super) fn check(
    places: &[Place<'_>],
    has_bypass: bool,
    keeper: &mut dyn Keeper,
) -> Result<(), LiveError> {
    let mut known: Vec<(Place<'_>, Surroundings)> = Vec::with_capacity(places.len());
    for place @ (interface, namespace) in places {
        let look = || Surroundings::new(interface);
        let mut found = match namespace {
            Some(namespace) => namespace.run(look)??,
            None => look()?,
        };
        let is_known = |controller: &String| has_bypass && bypass::is_bypass(controller);
        if let Some(controller) = found.controller.take_if(|name| !is_known(name)) {
            return Err(LiveError::Member { interface: interface.name.clone(), controller });
        }
        known.push((*place, found));
    }
    for (at, (place, one)) in known.iter().enumerate() {
        let is_another = |other: &Place<'_>| other.1 == place.1 && other.0.index != place.0.index;
        let others = known[at + 1..].iter().filter(|(other, _)| is_another(other));
        for (other, another) in others {
            if let Some(version) = routed(one, another) {
                let between = [place, other].map(|(interface, _)| interface.name.clone());
                return Err(LiveError::Routed { between, version });
            }
        }
    }
    for ((interface, _), found) in &known {
        warn_addressed(interface, found).iter().for_each(|warning| keeper.say(warning));
    }
    Ok(())
}

/// The version of IP that the host routes between two interfaces, if it does.
fn routed(one: &Surroundings, other: &Surroundings) -> Option<&'static str> {
    let has = |found: &Surroundings, is_ipv4| {
        found.addresses.iter().any(|address| address.is_ipv4() == is_ipv4)
    };
    let both = |is_ipv4| has(one, is_ipv4) && has(other, is_ipv4);
    if both(true) && (one.routes_ipv4 || other.routes_ipv4) {
        return Some("ipv4");
    }
    (both(false) && (one.routes_ipv6 || other.routes_ipv6)).then_some("ipv6")
}

/// A warning if the host answers at an interface.
fn warn_addressed(interface: &Interface, found: &Surroundings) -> Option<String> {
    let name = &interface.name;
    let address = found.addresses.first()?;
    let routes = found.addresses.iter().any(|address| found.routes(address));
    let also = if routes { ", and routes what it is to pass on, past the plan" } else { "" };
    Some(format!(
        "{name} has the address {address}: the host itself answers there, beside what is forwarded{also}; \
         `ip addr flush dev {name}` takes it away, and what the host itself sends is shaped by `laxity live --dev`"
    ))
}

/// What is to be said of interfaces at which frames arrive and leave under a plan.
///
/// # Errors
/// If the plan drops frames for what the link adds to them.
pub(super) fn warnings(
    plan: &Plan,
    arrives: &Interface,
    leaves: &Interface,
) -> Result<Vec<String>, LiveError> {
    let warnings =
        [warn_slower(plan, &leaves.name), warn_longer(plan, arrives)?, warn_joined(plan, arrives)];
    Ok(warnings.into_iter().flatten().collect())
}

/// A warning if an interface carries less than a plan sends there.
fn warn_slower(plan: &Plan, name: &str) -> Option<String> {
    let found = plan.link.autorate.as_ref().map(|autorate| autorate.settings.to);
    let (rate, speed) = (found.unwrap_or(plan.link.whole_rate()).0, interface::speed(name)?);
    (rate > speed).then(|| {
        format!(
            "{name} runs at {} Mbit/s, which is less than the link's rate in the plan, {} Mbit/s: frames will wait in \
             its own queue, where no bound holds",
            speed / 1_000_000,
            rate / 1_000_000
        )
    })
}

/// A warning if frames may arrive that are longer than a plan's longest packet: a header and what
/// the MTU leaves, and a tag where the plan looks for one.
fn warn_longer(plan: &Plan, arrives: &Interface) -> Result<Option<String>, LiveError> {
    let matches = plan.classes.iter().filter_map(|class| class.matching.as_ref());
    let is_tagged = matches.into_iter().any(Match::wants_tag);
    let frame = HEADER + if is_tagged { TAG } else { 0 } + arrives.mtu;
    let (longest, limit) = (Bytes(plan.link.accounted(frame).into()), plan.link.max_packet);
    if longest <= limit {
        return Ok(None);
    }
    let interface = arrives.name.clone();
    if Bytes(frame.into()) <= limit {
        return Err(LiveError::Overhead { interface, longest, limit });
    }
    let tag = if is_tagged { " with the tag that the plan looks for" } else { "" };
    Ok(Some(format!(
        "packets from {interface} may have {longest} on the link{tag}, more than the plan's `max-packet`, {limit}: \
         longer ones are dropped"
    )))
}

/// A warning if the kernel joins packets of classes that are to keep to a curve.
fn warn_joined(plan: &Plan, arrives: &Interface) -> Option<String> {
    let name = &arrives.name;
    let has_contracts = plan.classes.iter().any(|class| class.arrival.is_some());
    let is_joined = || offload(name, Offload::Receive).unwrap_or(false);
    (has_contracts && is_joined()).then(|| {
        format!(
            "{name} joins TCP packets that arrive in a row (gro): they are cut again and arrive at once, which may \
             break the `arrival` of their class; `ethtool -K {name} gro off` ends that"
        )
    })
}
