//! Rates, and the queues of classes.

use laxity::units::{Bytes, Nanos, Rate};

use super::config::Node;
use crate::Error;
use crate::error::shown;
use crate::router::tc_rate;

/// A rate: with a unit as `tc` has it, in kbit/s without one, or a part of `whole`.
pub(super) fn rate(node: &Node, path: &[&str], whole: Option<Rate>) -> Result<Option<Rate>, Error> {
    let Some((text, line)) = node.value(path) else { return Ok(None) };
    let wrong = |message: String| Error::at(line, format!("`{}`: {message}", path.join(" ")));
    if text == "auto" {
        return Ok(None);
    }
    if let Some(percent) = text.strip_suffix('%') {
        let percent: Option<u64> =
            percent.parse().ok().filter(|percent| (1..=100).contains(percent));
        let percent =
            percent.ok_or_else(|| wrong(format!("`{}` is not a part such as 20%", shown(text))))?;
        let whole = whole.ok_or_else(|| {
            wrong(format!(
                "`{}` is a part of the interface's speed, which is not known: give --link-rate",
                shown(text)
            ))
        })?;
        let bits = u128::from(whole.0) * u128::from(percent) / 100;
        return Ok(Some(Rate(u64::try_from(bits).unwrap_or(u64::MAX).max(1))));
    }
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let text = if is_plain { format!("{text}kbit") } else { text.to_owned() };
    tc_rate(&text).map(Some).map_err(wrong)
}

/// A whole number of at least `least`.
pub(super) fn number(node: &Node, path: &[&str], least: u64) -> Result<Option<u64>, Error> {
    let Some((text, line)) = node.value(path) else { return Ok(None) };
    let number = text.parse().ok().filter(|number| (least..=u64::from(u32::MAX)).contains(number));
    number.map(Some).ok_or_else(|| {
        let text = shown(text);
        Error::at(
            line,
            format!("`{}` is `{text}`: a whole number of at least {least}", path.join(" ")),
        )
    })
}

/// A time in milliseconds, or with `ms`.
fn time(node: &Node, name: &str) -> Result<Option<Nanos>, Error> {
    let Some((text, line)) = node.value(&[name]) else { return Ok(None) };
    let number = text.strip_suffix("ms").unwrap_or(text).parse().ok();
    let number: Option<u64> = number.filter(|number| (1..=1_000_000).contains(number));
    let wrong =
        || Error::at(line, format!("`{name}` is `{}`: milliseconds, such as 5", shown(text)));
    Ok(Some(Nanos(number.ok_or_else(wrong)? * 1_000_000)))
}

/// The settings of flow queues, as the keys of a scheduler, a line each.
pub(super) fn flows(node: &Node) -> Result<String, Error> {
    let limit = number(node, &["queue-limit"], 1)?.unwrap_or(10_240);
    let flows = number(node, &["flows"], 1)?.unwrap_or(1024).min(65_536);
    let quantum = Bytes(number(node, &["codel-quantum"], 1)?.unwrap_or(1514));
    let (target, interval) = times(node)?;
    Ok(format!(
        "kind = \"fq-codel\"\nlimit = {limit}\nflows = {flows}\nquantum = \"{}b\"\ntarget = \"{target}\"\ninterval = \"{interval}\"",
        quantum.0
    ))
}

fn times(node: &Node) -> Result<(Nanos, Nanos), Error> {
    let target = time(node, "target")?.unwrap_or(Nanos(5_000_000));
    let interval = time(node, "interval")?.unwrap_or(Nanos(100_000_000));
    Ok((target, interval))
}

/// The queue of a class by its `queue-type`, as the value of a key.
pub(super) fn queue(class: &Node, name: &str, notes: &mut Vec<String>) -> Result<String, Error> {
    const PACKETS: u64 = 1000;
    let limit = number(class, &["queue-limit"], 1)?;
    let (kind, line) = class.value(&["queue-type"]).unwrap_or(("fq-codel", class.line));
    Ok(match kind {
        "fq-codel" => {
            let (target, interval) = times(class)?;
            notes.push(format!("{line}: class {name}: fq-codel: one queue with controlled delay, whose flows take no turns"));
            let limit = limit.unwrap_or(10_240);
            format!(
                "{{ kind = \"codel\", limit = {limit}, target = \"{target}\", interval = \"{interval}\", ecn = true }}"
            )
        }
        "fair-queue" => {
            notes.push(format!(
                "{line}: class {name}: fair-queue: one queue, whose flows take no turns"
            ));
            format!("{{ kind = \"droptail\", limit = {} }}", limit.unwrap_or(127))
        }
        "drop-tail" => format!("{{ kind = \"droptail\", limit = {} }}", limit.unwrap_or(PACKETS)),
        "priority" | "random-detect" => {
            notes.push(format!("{line}: class {name}: {kind}: one queue in order of arrival"));
            format!("{{ kind = \"droptail\", limit = {} }}", limit.unwrap_or(PACKETS))
        }
        other => {
            let accepted = "fq-codel, fair-queue, drop-tail, priority, random-detect";
            return Err(Error::at(
                line,
                format!("`queue-type` is `{}`: accepted are {accepted}", shown(other)),
            ));
        }
    })
}
