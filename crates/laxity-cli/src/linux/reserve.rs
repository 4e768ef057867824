//! `laxity reserve`, `release` and `reservations`: what is promised on a running link.

use std::time::{SystemTime, UNIX_EPOCH};

use laxity::units::Nanos;
use laxity_answers::reservations::{Granted, LinkDeadline, LinkFrame};
use laxity_live::reservations::{Answer, Order, Refused, Reservation, Why, Wish};
use laxity_report::quantity;
use laxity_report::table::table_led;
use serde_json::{Map, Value};

use super::control_socket;
use super::measurement::hours;
use crate::args::{Instance, Release, Reservations, Reserve};
use crate::failure::Failure;
use crate::{Promises, show};

/// Carries `laxity reserve` out.
pub(super) fn reserve(arguments: &Reserve) -> Result<Promises, Failure> {
    let name = arguments.name.clone();
    let for_ns = arguments.lasts.map(|Nanos(lasts)| lasts);
    let order = if arguments.commit {
        Order::Commit { name }
    } else if arguments.renew {
        Order::Renew { name, for_ns }
    } else if arguments.change {
        Order::Change { name, class: class(arguments)? }
    } else {
        let from_ns = arguments.ahead.map(|ahead| now().saturating_add(ahead).0);
        let hold_ns = arguments.hold.map(|Nanos(hold)| hold);
        let (class, path) = (class(arguments)?, arguments.path.clone());
        Order::Reserve(Box::new(Wish { name, class, path, from_ns, for_ns, hold_ns }))
    };
    carry_out(&arguments.instance, &order, arguments.json)
}

/// Carries `laxity release` out.
pub(super) fn release(arguments: &Release) -> Result<Promises, Failure> {
    let order = Order::Release { name: arguments.name.clone() };
    carry_out(&arguments.instance, &order, arguments.json)
}

/// Carries `laxity reservations` out.
pub(super) fn list(arguments: &Reservations) -> Result<Promises, Failure> {
    carry_out(&arguments.instance, &Order::List, arguments.json)
}

pub(super) fn now() -> Nanos {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// The keys of the class that is asked for.
fn class(arguments: &Reserve) -> Result<Map<String, Value>, Failure> {
    let Reserve { deadline, end_to_end, bucket, rate, packet, matching, set, .. } = arguments;
    let mut class = Map::new();
    let mut put = |key: &str, value: &Option<String>| {
        value.iter().for_each(|value| drop(class.insert(key.into(), value.as_str().into())));
    };
    put("deadline", deadline);
    put("end-to-end", end_to_end);
    put("match", matching);
    let parts = [("bucket", bucket), ("rate", rate), ("packet", packet)];
    let arrival: Map<String, Value> = parts
        .into_iter()
        .filter_map(|(key, value)| Some((key.into(), value.as_deref()?.into())))
        .collect();
    if !arrival.is_empty() {
        class.insert("arrival".into(), arrival.into());
    }
    for setting in set {
        let Some((key, value)) = setting.split_once('=') else {
            return Err(Failure::input(format!(
                "--set {setting} has no value: write KEY=VALUE, as in --set weight=3"
            )));
        };
        class.insert(key.trim().into(), value_of(value));
    }
    Ok(class)
}

/// A value as it is written in a plan, or else its text.
fn value_of(text: &str) -> Value {
    let written: Option<Map<String, Value>> = toml::from_str(&format!("value = {text}")).ok();
    let value = written.and_then(|mut table| table.remove("value"));
    value.unwrap_or_else(|| text.into())
}

fn carry_out(instance: &Instance, order: &Order, json: bool) -> Result<Promises, Failure> {
    let running = control_socket::running(instance.control.as_deref())?;
    let answer = running.order(order).map_err(Failure::system)?;
    show(json, &answer, || text(&answer, order))?;
    match answer {
        Answer::Refused(Refused { reason: Why::Senseless, .. }) if json => Ok(Promises::Broken),
        Answer::Refused(Refused { reason, message, .. }) => match reason {
            Why::Senseless => Err(Failure::input(message)),
            Why::Unavailable => Err(Failure::system(message)),
            _ => Ok(Promises::Broken),
        },
        Answer::Granted(_) | Answer::Changed(_) | Answer::Done | Answer::Listed { .. } => {
            Ok(Promises::Kept)
        }
    }
}

fn text(answer: &Answer, order: &Order) -> String {
    match answer {
        Answer::Granted(granted) | Answer::Changed(granted) => {
            let bound = granted.bound_ns.map(|bound| {
                format!("no packet takes longer than {}", quantity::time(bound as f64))
            });
            let granted_or_held = match order {
                Order::Reserve(wish) if wish.hold_ns.is_some() => "held",
                Order::Change { .. } => "changed",
                _ => "granted",
            };
            let bound = bound.map(|bound| format!(": {bound}")).unwrap_or_default();
            // Of what is for later the begin was told.
            let is_for_later = matches!(order, Order::Reserve(wish) if wish.from_ns.is_some());
            let begins = granted.from_ns.saturating_sub(now().0);
            let begin = match begins {
                0 => String::new(),
                _ if is_for_later => String::new(),
                begins => format!(", and begins in {}", quantity::time(begins as f64)),
            };
            format!("`{}` is {granted_or_held}{begin}{bound}.{}", granted.name, along(granted))
        }
        Answer::Done => "Done.".to_string(),
        Answer::Listed { reservations } if reservations.is_empty() => {
            "Nothing is reserved.".to_string()
        }
        Answer::Listed { reservations } => listed(reservations, now()),
        // Said by the failure.
        Answer::Refused(Refused { reason: Why::Senseless | Why::Unavailable, .. }) => String::new(),
        Answer::Refused(refused) => {
            let is_along_path = matches!(order, Order::Reserve(wish) if !wish.path.is_empty());
            refusal(refused, is_along_path)
        }
    }
}

/// The path through a network, and the deadlines or the time frames of its links.
fn along(Granted { path, deadlines, frames, .. }: &Granted) -> String {
    if path.is_empty() {
        return String::new();
    }
    let over = |LinkDeadline { link, deadline_ns }: &LinkDeadline| {
        format!("{} over {link}", quantity::time(*deadline_ns as f64))
    };
    let over: Vec<String> = deadlines.iter().map(over).collect();
    let deadlines = match over[..] {
        [] => String::new(),
        _ => format!("; deadlines: {}", over.join(", ")),
    };
    let frames = match frames[..] {
        [] => String::new(),
        _ => format!("; first {}", in_frames(frames)),
    };
    format!("\nPath: {}{deadlines}{frames}.", path.join(" → "))
}

fn in_frames(frames: &[LinkFrame]) -> String {
    let at = |LinkFrame { link, frame }: &LinkFrame| format!("{frame} over {link}");
    let frames: Vec<String> = frames.iter().map(at).collect();
    format!("frames: {}", frames.join(", "))
}

fn refusal(Refused { message, offer, .. }: &Refused, is_along_path: bool) -> String {
    let delay = if is_along_path { "an end-to-end delay" } else { "a deadline" };
    let deadline =
        offer.deadline_ns.map(|deadline| format!("{delay} of {}", quantity::time(deadline as f64)));
    let rate = offer.rate_bps.map(|rate| format!("a rate of {}", quantity::rate(rate as f64)));
    let bucket =
        offer.bucket_bytes.map(|bucket| format!("a bucket of {}", quantity::size(bucket as f64)));
    let path = offer.path.as_ref().map(|path| format!("the path {}", path.join(",")));
    let frames = (!offer.frames.is_empty()).then(|| in_frames(&offer.frames));
    let offers: Vec<String> =
        [deadline, rate, bucket, path, frames].into_iter().flatten().collect();
    let offer = match offers[..] {
        [] => String::new(),
        _ => format!("\nThis would fit: {}.", offers.join(", or ")),
    };
    format!("It is refused: {message}{offer}")
}

/// In how long a reservation begins, and ends; a dash for what is over or never is.
pub(super) fn ends(one: &Reservation, now: Nanos) -> [String; 2] {
    let away = |time: u64| format!("in {}", hours(time.saturating_sub(now.0)));
    let end = one.held_until_ns.or(one.until_ns);
    [Some(one.from_ns), end]
        .map(|time| time.filter(|time| *time > now.0).map_or_else(|| "—".to_string(), away))
}

fn listed(reservations: &[Reservation], now: Nanos) -> String {
    let has_paths = reservations.iter().any(|one| !one.path.is_empty());
    let row = |one: &Reservation| {
        let [begins, ends] = ends(one, now);
        let keys = one.keys.lines().map(str::trim).filter(|line| !line.is_empty());
        let keys = keys.collect::<Vec<_>>().join(", ");
        let path = has_paths.then(|| one.path.join(","));
        let row = [one.name.clone(), one.state.name().to_string(), begins, ends];
        row.into_iter().chain(path).chain([keys]).collect()
    };
    let rows: Vec<Vec<String>> = reservations.iter().map(row).collect();
    let path = has_paths.then_some("path");
    let headers = ["reservation", "state", "begins", "ends"];
    let headers: Vec<_> = headers.into_iter().chain(path).chain(["class"]).collect();
    table_led(headers.len(), &headers, &rows)
}
