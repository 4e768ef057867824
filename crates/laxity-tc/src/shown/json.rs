//! What `tc -j … show` prints. Some releases of iproute2 leave parts of it as text, such as
//! `"options":{default 30 }`, and repeat keys, such as one `match` for each of a filter's.

use laxity_plan::error::Fault;

use super::item::ShownItem;
use crate::error::Span;
use crate::netlink::Sort;
use crate::words::json::{Json, Members};
use crate::words::size_table;

/// Whether a text that begins with `[` is JSON rather than a test of a shell.
pub(super) fn begins(text: &str) -> bool {
    let inside = text[1..].trim_start();
    inside.starts_with('{') || inside.starts_with(']')
}

/// The items of the list that the text begins with, and how long it is.
pub(super) fn read(
    text: &str,
    at: usize,
    line: usize,
    device: Option<&str>,
) -> Result<(Vec<ShownItem>, usize), Fault> {
    let length = list_length(text).unwrap_or(text.len());
    let mended = mended(&text[..length]);
    let list: Json = serde_json::from_str(&mended).map_err(|error| {
        Fault::at(&(at..at + length), format!("this is no JSON of tc: {error}"))
            .help("give the text that it shows without -j")
    })?;
    let Json::Several(items) = list else { return Ok((Vec::new(), length)) };
    let shown = items.iter().filter_map(|item| shown(item, at..at + length, line));
    let shown = shown
        .map(|item| ShownItem { device: item.device.clone().or(device.map(Into::into)), ..item });
    Ok((shown.collect(), length))
}

/// How long the list is that a text begins with, brackets in quotes apart.
fn list_length(text: &str) -> Option<usize> {
    let (mut open, mut quoted, mut escaped) = (0usize, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '[' => open += 1,
            ']' => {
                open = open.checked_sub(1)?;
                if open == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The JSON with options in plain text put in quotes.
fn mended(text: &str) -> String {
    let mut all = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\"options\"") {
        let head = at + "\"options\"".len();
        let after = rest[head..].trim_start_matches([' ', ':', '\n', '\t']);
        let begins = rest.len() - after.len();
        let inside = after.strip_prefix('{').map(str::trim_start).unwrap_or_default();
        let plain = inside.starts_with(|c: char| c.is_ascii_alphanumeric());
        let end = inside.find(['}', '"']).filter(|end| plain && inside[*end..].starts_with('}'));
        match end {
            Some(end) => {
                all.push_str(&rest[..begins]);
                let words: Vec<&str> = inside[..end].split_whitespace().collect();
                all.push_str(&format!("\"{}\"", words.join(" ").replace('\\', "")));
                rest = &inside[end + 1..];
            }
            None => {
                all.push_str(&rest[..head]);
                rest = &rest[head..];
            }
        }
    }
    all.push_str(rest);
    all
}

fn shown(item: &Json, span: Span, line: usize) -> Option<ShownItem> {
    let nothing = Json::Nothing;
    let options = item.get("options").unwrap_or(&nothing);
    let (sort, kind) = match (item.text("class"), item.text("protocol")) {
        (Some(kind), _) => (Sort::Class, kind),
        (None, Some(_)) => (Sort::Filter, item.text("kind")?),
        (None, None) => (Sort::Qdisc, item.text("kind")?),
    };
    let mut all = ShownItem {
        handle: item.text("handle").unwrap_or_default(),
        parent: item.text("parent").filter(|_| item.get("root").is_none()),
        device: item.text("dev"),
        is_table: options.get("ht_divisor").is_some(),
        ..ShownItem::new(sort, kind, span, line)
    };
    match sort {
        Sort::Filter => filter(item, options, &mut all),
        Sort::Class if !all.is_added_class() => return None,
        Sort::Class => all.options = class(item),
        Sort::Qdisc => {
            let words = words(options, &all.kind);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            all.options = all.given(&words);
            if let Some(sizes) = item.get("stab") {
                all.before.push("stab".into());
                all.before.extend(pairs(sizes, &size_table::OPTIONS.map(|name| (name, ""))));
            }
        }
    }
    Some(all)
}

/// The members of these names, each behind its name and with a unit behind it.
fn pairs(of: &Json, names: &[(&str, &str)]) -> Vec<String> {
    let pair = |(name, unit): &(&str, &str)| Some([name.to_string(), of.text(name)? + unit]);
    names.iter().filter_map(pair).flatten().collect()
}

/// Rates are bytes a second here, and times microseconds.
fn class(item: &Json) -> Vec<String> {
    const SLOPES: [(&str, &str); 3] = [("m1", "bps"), ("d", ""), ("m2", "bps")];
    const PARAMETERS: [(&str, &str); 6] = [
        ("prio", ""),
        ("rate", "bps"),
        ("ceil", "bps"),
        ("weight", ""),
        ("maxpkt", ""),
        ("quantum", ""),
    ];
    let mut words = Vec::new();
    for name in ["rt", "ls", "sc", "ul"] {
        if let Some(curve) = item.get(name) {
            words.push(name.to_string());
            words.extend(pairs(curve, &SLOPES));
        }
    }
    words.extend(pairs(item, &PARAMETERS));
    words
}

fn filter(item: &Json, options: &Json, shown: &mut ShownItem) {
    shown.before.extend(pairs(item, &[("protocol", ""), ("pref", "")]));
    if item.text("chain").is_some_and(|chain| chain != "0") {
        shown.before.extend(pairs(item, &[("chain", "")]));
    }
    if let Json::Text(words) = options {
        // Of `fw`: `handle 0x6 classid 1:22`.
        let words: Vec<&str> = words.split_whitespace().collect();
        for pair in words.windows(2) {
            match pair {
                ["handle", value] => shown.before.extend(["handle".into(), value.to_string()]),
                ["classid" | "flowid", value] => shown.say(&["classid", value]),
                _ => {}
            }
        }
    }
    if let Some(class) = options.text("classid").or_else(|| options.text("flowid")) {
        shown.say(&["classid", &class]);
    }
    if shown.kind == "fw" {
        shown.before.extend(pairs(options, &[("handle", "")]));
    }
    if shown.kind == "u32" {
        table(options, shown);
    }
    let gone = is_gone(options);
    if shown.options.is_empty() && !gone {
        shown.kind.clear();
    }
    let Json::Object(Members(entries)) = options else { return };
    for (key, value) in entries {
        match (shown.kind.as_str(), key.as_str()) {
            ("u32", "match") => {
                let part = |key| value.text(key).unwrap_or_default();
                let (bits, mask) = (format!("0x{}", part("value")), format!("0x{}", part("mask")));
                shown.say(&["match", "u32", &bits, &mask, "at", &part("off")]);
            }
            ("flower", "keys") => {
                let Json::Object(Members(keys)) = value else { continue };
                for (key, value) in keys.iter().filter(|(key, _)| key != "eth_type") {
                    let range = value.text("start").zip(value.text("end"));
                    let text = range.map(|(start, end)| format!("{start}-{end}"));
                    shown.options.push(key.clone());
                    shown.options.extend(text.or(value.word()));
                }
            }
            ("u32", "fwmark_value") => {
                let mask = options.text("fwmark_mask").unwrap_or_default();
                shown.say(&["match", "mark", &value.word().unwrap_or_default(), &mask]);
            }
            // Releases differ in how they show tests.
            ("basic", "handle" | "flowid" | "classid" | "actions") => {}
            ("basic", other) => shown.options.push(format!("{other}()")),
            _ => {}
        }
    }
    if gone {
        shown.say(&["action", "drop"]);
    }
}

/// Whether actions of a filter keep its packets from this interface.
fn is_gone(options: &Json) -> bool {
    let Some(Json::Several(actions)) = options.get("actions") else { return false };
    let is = |json: Option<String>, text: &str| json.is_some_and(|word| word == text);
    actions.iter().any(|action| {
        let control = action.get("control_action").and_then(|control| control.text("type"));
        is(action.text("kind"), "gact") && is(control, "drop")
            || is(action.text("mirred_action"), "redirect")
    })
}

/// The table of u32 that a filter is, is in, or links to.
fn table(options: &Json, shown: &mut ShownItem) {
    let word = |key: &str| options.text(key);
    if shown.take_table(|name| word(if name == "divisor" { "ht_divisor" } else { name })) {
        return;
    }
    shown.options.extend(pairs(options, &[("link", "")]));
    if let Some(mask) = word("hash_mask") {
        let at = word("hash_off").unwrap_or("0".into());
        shown.say(&["hashkey", "mask", &format!("0x{mask}"), "at", &at]);
    }
    if let Some((mask, shift)) = word("offset_mask").zip(word("offset_shift")) {
        let at = word("offset_off").unwrap_or("0".into());
        shown.say(&["offset", "at", &at, "mask", &mask, "shift", &shift]);
    }
}

/// Options of a qdisc of this kind as they are shown as text.
fn words(options: &Json, kind: &str) -> Vec<String> {
    let entries = match options {
        Json::Text(text) => return text.split_whitespace().map(str::to_string).collect(),
        Json::Object(Members(entries)) => entries,
        _ => return Vec::new(),
    };
    if kind == "cake" {
        return entries.iter().flat_map(|(key, value)| cake(key, value)).collect();
    }
    let mut words = Vec::new();
    for (key, value) in entries {
        let values: Vec<String> = match value {
            Json::Flag(true) => Vec::new(),
            // Times are microseconds, and half a tick below what was written.
            Json::Number(number) if key == "target" || key == "interval" => {
                let time = number.as_u64().unwrap_or(0);
                vec![format!("{}us", if time % 10 == 9 { time + 1 } else { time })]
            }
            Json::Number(number) if key == "rate" && kind != "sfq" => vec![format!("{number}bps")],
            Json::Several(values) => values.iter().filter_map(Json::word).collect(),
            value => match value.word() {
                Some(word) => vec![word],
                None => continue,
            },
        };
        words.push(key.clone());
        words.extend(values);
    }
    words
}

/// A parameter of `cake` as it is shown as text; nothing for what is not told of it.
fn cake(key: &str, value: &Json) -> Vec<String> {
    let flag = |is_set: bool, [yes, no]: [&str; 2]| vec![if is_set { yes } else { no }.to_string()];
    match (key, value) {
        ("bandwidth", Json::Number(bytes)) => vec!["bandwidth".into(), format!("{bytes}bps")],
        ("bandwidth" | "diffserv" | "flowmode" | "atm", Json::Text(word)) => vec![word.clone()],
        ("nat", Json::Flag(is_set)) => flag(*is_set, ["nat", "nonat"]),
        ("wash", Json::Flag(is_set)) => flag(*is_set, ["wash", "nowash"]),
        ("split_gso", Json::Flag(is_set)) => flag(*is_set, ["split-gso", "no-split-gso"]),
        ("ingress", Json::Flag(true)) => vec!["ingress".into()],
        ("raw", Json::Flag(true)) => vec!["raw".into()],
        ("ack-filter", Json::Text(word)) => vec![
            match word.as_str() {
                "enabled" => "ack-filter",
                "aggressive" => "ack-filter-aggressive",
                _ => "no-ack-filter",
            }
            .into(),
        ],
        ("rtt", Json::Number(micros)) => vec!["rtt".into(), format!("{micros}us")],
        ("overhead" | "mpu" | "memlimit", Json::Number(bytes)) => {
            vec![key.into(), bytes.to_string()]
        }
        ("fwmark", Json::Text(mask)) => vec![key.into(), mask.clone()],
        _ => Vec::new(),
    }
}
