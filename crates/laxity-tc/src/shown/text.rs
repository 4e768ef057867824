//! The text that `tc … show` prints: an item begins in a line with `qdisc`, `class` or `filter`,
//! and what belongs to it follows in lines of its own. Statistics are passed over.

use laxity_plan::error::Fault;

use super::item::ShownItem;
use super::json;
use crate::error::Span;
use crate::netlink::Sort;
use crate::words::size_table;

/// Flags of filters that are no options of them.
const FLAGS: [&str; 5] = ["not_in_hw", "in_hw", "skip_hw", "skip_sw", "terminal"];

/// All that is shown; `None` if the text begins nowhere as what `tc` shows does.
pub(super) fn read(text: &str) -> Result<Option<Vec<ShownItem>>, Fault> {
    let (mut shown, mut at, mut line) = (Vec::new(), 0, 1);
    let mut device = None;
    // The item whose further lines may follow.
    let mut open: Option<usize> = None;
    let mut found = false;
    while at < text.len() {
        let rest = &text[at..];
        let one = rest.split_inclusive('\n').next().unwrap_or(rest);
        let trimmed = one.trim();
        if trimmed.starts_with('[') && json::begins(&rest[rest.find('[').unwrap_or(0)..]) {
            let (items, length) = json::read(&text[at..], at, line, device.as_deref())?;
            found = true;
            shown.extend(items);
            line += text[at..at + length].matches('\n').count();
            at += length;
            open = None;
            continue;
        }
        let words: Vec<&str> = trimmed.split_whitespace().collect();
        let span = at..at + one.trim_end().len();
        if let Some(item) = item(&words, span, line) {
            found = true;
            open = Some(shown.len());
            shown.push(ShownItem { device: item.device.clone().or(device.clone()), ..item });
        } else if let Some(asked) = asked(&words) {
            device = asked;
            open = None;
        } else if let (Some(item), false) = (open, words.is_empty()) {
            further(&mut shown[item], &words);
        }
        at += one.len();
        line += 1;
    }
    Ok(found.then_some(shown))
}

/// The interface of a command that was pasted with its output.
fn asked(words: &[&str]) -> Option<Option<String>> {
    let at = words.iter().position(|word| *word == "tc" || word.ends_with("/tc"))?;
    let asks = ["show", "list", "ls"];
    words.iter().position(|word| asks.contains(word))?;
    let dev = words[at..].iter().position(|word| *word == "dev");
    let name = dev.and_then(|dev| words.get(at + dev + 1));
    let options = ["qdisc", "class", "filter", "show"];
    let last = words.last().filter(|last| dev.is_none() && !options.contains(last));
    Some(name.or(last).map(ToString::to_string))
}

/// The item that begins with these words.
fn item(words: &[&str], span: Span, line: usize) -> Option<ShownItem> {
    let (sort, kind, rest) = match words {
        ["qdisc", kind, rest @ ..] => (Sort::Qdisc, *kind, rest),
        ["class", kind, rest @ ..] => (Sort::Class, *kind, rest),
        ["filter", rest @ ..] => (Sort::Filter, "", rest),
        _ => return None,
    };
    let mut shown = ShownItem::new(sort, kind.into(), span, line);
    if sort == Sort::Filter {
        return filter(shown, rest);
    }
    let (handle, mut rest) = rest.split_first()?;
    if !handle.contains(':') || kind.starts_with("add") {
        return None;
    }
    shown.handle = handle.to_string();
    loop {
        match rest {
            ["dev", device, left @ ..] => {
                shown.device = Some(device.to_string());
                rest = left;
            }
            ["parent", parent, left @ ..] => {
                shown.parent = Some(parent.to_string());
                rest = left;
            }
            ["leaf" | "refcnt", _, left @ ..] => rest = left,
            ["root" | "[Unknown" | "offloaded" | "deleted", left @ ..] => rest = left,
            _ => break,
        }
    }
    shown.options = shown.given(rest);
    if sort == Sort::Class && !shown.is_added_class() {
        shown.kind.clear();
    }
    Some(shown)
}

fn filter(mut shown: ShownItem, words: &[&str]) -> Option<ShownItem> {
    let mut words = words.iter();
    let mut kind = None;
    while let Some(word) = words.next() {
        match *word {
            "dev" => shown.device = words.next().map(ToString::to_string),
            "parent" => shown.parent = words.next().map(ToString::to_string),
            "protocol" | "pref" => shown.before.extend([*word, words.next()?].map(str::to_string)),
            "add" | "change" | "replace" | "del" | "delete" => return None,
            other => {
                kind = Some(other.to_string());
                break;
            }
        }
    }
    shown.kind = kind?;
    // The first line of a priority says nothing of its filters.
    let rest: Vec<&str> = words.copied().collect();
    if shown.kind == "u32" {
        let after = |name: &str| {
            let at = rest.iter().position(|word| *word == name)?;
            rest.get(at + 1).map(ToString::to_string)
        };
        if shown.take_table(after) {
            return Some(shown);
        }
        let has_class = rest.iter().any(|word| word.trim_start_matches('*') == "flowid");
        let link = after("link");
        let is_filter = rest.contains(&"order");
        if !has_class && link.is_none() && !is_filter {
            shown.is_table = rest.contains(&"divisor");
            shown.kind.clear();
            return Some(shown);
        }
        if let Some(table) = link {
            shown.say(&["link", &table]);
        }
    }
    for (at, word) in rest.iter().enumerate() {
        let value = || rest.get(at + 1).map(ToString::to_string);
        match word.trim_start_matches('*') {
            "flowid" | "classid" => {
                shown.options.push("classid".into());
                shown.options.extend(value());
            }
            "handle" if shown.kind == "fw" => {
                shown.before.push("handle".into());
                shown.before.extend(value());
            }
            "chain" if value().is_some_and(|chain| chain != "0") => {
                shown.before.push("chain".into());
                shown.before.extend(value());
            }
            _ => {}
        }
    }
    // What takes packets has a handle; its action may be on a further line.
    if shown.options.is_empty() && shown.kind != "u32" && !rest.contains(&"handle") {
        shown.kind.clear();
    }
    Some(shown)
}

/// A further line of an item.
fn further(shown: &mut ShownItem, words: &[&str]) {
    match (shown.sort, shown.kind.as_str(), words) {
        (Sort::Qdisc, _, ["linklayer" | "overhead" | "mpu", ..]) => {
            shown.before.push("stab".into());
            let pairs = words.chunks_exact(2).filter(|pair| size_table::OPTIONS.contains(&pair[0]));
            shown.before.extend(pairs.flatten().map(ToString::to_string));
        }
        (Sort::Filter, _, ["action", "order", _, "gact", "action", "drop", ..])
        | (Sort::Filter, _, ["action", "order", _, "mirred", _, "Redirect", ..]) => {
            shown.say(&["action", "drop"]);
        }
        // Lines of its actions come behind those of its tests.
        (Sort::Filter, "basic", words) if !shown.options.iter().any(|word| word == "action") => {
            let tests = words.iter().filter(|word| !FLAGS.contains(word));
            shown.options.extend(tests.map(ToString::to_string));
        }
        (Sort::Filter, "u32", ["mark", value, mask, ..]) => {
            shown.say(&["match", "mark", value, mask]);
        }
        (Sort::Filter, "u32", ["match", bits, "at", place, ..]) => {
            if let Some((value, mask)) = bits.split_once('/') {
                let (value, mask) = (format!("0x{value}"), format!("0x{mask}"));
                shown.say(&["match", "u32", &value, &mask, "at", place]);
            }
        }
        (Sort::Filter, "u32", ["hash", "mask", mask, "at", place, ..]) => {
            shown.say(&["hashkey", "mask", &format!("0x{mask}"), "at", place]);
        }
        (Sort::Filter, "u32", ["offset", words @ ..]) => {
            let (mask, shift) =
                words.first().and_then(|first| first.split_once(">>")).unwrap_or_default();
            let at = words.iter().position(|word| *word == "at").and_then(|at| words.get(at + 1));
            let at = at.unwrap_or(&"0");
            shown.say(&["offset", "at", at, "mask", mask, "shift", shift]);
        }
        (Sort::Filter, "flower", [key, value])
            if *key != "eth_type" && !key.starts_with("action") =>
        {
            shown.say(&[key, value]);
        }
        (Sort::Filter, "flower", [key]) if !FLAGS.contains(key) => shown.say(&[key]),
        _ => {}
    }
}
