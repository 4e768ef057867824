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
    let text_of = |key| item.get(key).and_then(Json::word);
    let nothing = Json::Nothing;
    let options = item.get("options").unwrap_or(&nothing);
    let (sort, kind) = match (text_of("class"), text_of("protocol")) {
        (Some(kind), _) => (Sort::Class, kind),
        (None, Some(_)) => (Sort::Filter, text_of("kind")?),
        (None, None) => (Sort::Qdisc, text_of("kind")?),
    };
    let parent = text_of("parent").filter(|_| item.get("root").is_none());
    let mut all = ShownItem {
        sort,
        handle: text_of("handle").unwrap_or_default(),
        parent,
        device: text_of("dev"),
        options: Vec::new(),
        before: Vec::new(),
        is_table: options.get("ht_divisor").is_some(),
        kind,
        span,
        line,
    };
    match sort {
        Sort::Filter => filter(item, options, &mut all),
        Sort::Class
            if !["hfsc", "htb", "qfq", "drr"].contains(&all.kind.as_str())
                || all.handle.ends_with(':') =>
        {
            return None;
        }
        Sort::Class => all.options = class(item),
        Sort::Qdisc => {
            let words = words(options, &all.kind);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            all.options = all.given(&words);
            if let Some(sizes) = item.get("stab") {
                let option = |name| Some([String::from(name), sizes.get(name)?.word()?]);
                all.before.push("stab".into());
                all.before.extend(size_table::OPTIONS.into_iter().filter_map(option).flatten());
            }
        }
    }
    Some(all)
}

/// Rates are bytes a second here, and times microseconds.
fn class(item: &Json) -> Vec<String> {
    let mut words = Vec::new();
    for name in ["rt", "ls", "sc", "ul"] {
        let Some(curve) = item.get(name) else { continue };
        words.push(name.to_string());
        for key in ["m1", "d", "m2"] {
            let Some(value) = curve.get(key).and_then(Json::word) else { continue };
            words.extend([key.into(), if key == "d" { value } else { format!("{value}bps") }]);
        }
    }
    for key in ["prio", "rate", "ceil"] {
        let Some(value) = item.get(key).and_then(Json::word) else { continue };
        words.extend([key.into(), if key == "prio" { value } else { format!("{value}bps") }]);
    }
    for key in ["weight", "maxpkt", "quantum"] {
        words.extend(
            item.get(key).and_then(Json::word).into_iter().flat_map(|value| [key.into(), value]),
        );
    }
    words
}

fn filter(item: &Json, options: &Json, shown: &mut ShownItem) {
    let mut head = |key: &str, name: &str| {
        if let Some(value) = item.get(key).and_then(Json::word) {
            shown.before.extend([name.to_string(), value]);
        }
    };
    head("protocol", "protocol");
    head("pref", "pref");
    if item.get("chain").and_then(Json::word).is_some_and(|chain| chain != "0") {
        head("chain", "chain");
    }
    if let Json::Text(words) = options {
        // Of `fw`: `handle 0x6 classid 1:22`.
        let words: Vec<&str> = words.split_whitespace().collect();
        for pair in words.windows(2) {
            match pair {
                ["handle", value] => shown.before.extend(["handle".into(), value.to_string()]),
                ["classid" | "flowid", value] => {
                    shown.options.extend(["classid".into(), value.to_string()]);
                }
                _ => {}
            }
        }
    }
    let class = ["classid", "flowid"].into_iter().find_map(|key| options.get(key)?.word());
    if let Some(class) = class {
        shown.options.extend(["classid".into(), class]);
    }
    if shown.kind == "fw"
        && let Some(handle) = options.get("handle").and_then(Json::word)
    {
        shown.before.extend(["handle".into(), handle]);
    }
    if shown.kind == "u32" {
        table(options, shown);
    }
    let Json::Object(Members(entries)) = options else {
        if shown.options.is_empty() {
            shown.kind.clear();
        }
        return;
    };
    let gone = is_gone(options);
    if shown.options.is_empty() && !gone {
        shown.kind.clear();
    }
    for (key, value) in entries {
        match (shown.kind.as_str(), key.as_str()) {
            ("u32", "match") => {
                let part = |key| value.get(key).and_then(Json::word).unwrap_or_default();
                let (bits, mask, place) = (part("value"), part("mask"), part("off"));
                let words =
                    ["match", "u32", &format!("0x{bits}"), &format!("0x{mask}"), "at", &place];
                shown.options.extend(words.map(str::to_string));
            }
            ("flower", "keys") => {
                let Json::Object(Members(keys)) = value else { continue };
                for (key, value) in keys.iter().filter(|(key, _)| key != "eth_type") {
                    let range = value.get("start").zip(value.get("end"));
                    let range = range.and_then(|(start, end)| Some((start.word()?, end.word()?)));
                    let text = range.map(|(start, end)| format!("{start}-{end}"));
                    shown.options.push(key.clone());
                    shown.options.extend(text.or(value.word()));
                }
            }
            ("u32", "fwmark_value") => {
                let mask = options.get("fwmark_mask").and_then(Json::word).unwrap_or_default();
                let value = value.word().unwrap_or_default();
                shown.options.extend(["match".into(), "mark".into(), value, mask]);
            }
            // Releases differ in how they show tests.
            ("basic", "handle" | "flowid" | "classid" | "actions") => {}
            ("basic", other) => shown.options.push(format!("{other}()")),
            _ => {}
        }
    }
    if gone {
        shown.options.extend(["action", "drop"].map(str::to_string));
    }
}

/// Whether actions of a filter keep its packets from this interface.
fn is_gone(options: &Json) -> bool {
    let Some(Json::Several(actions)) = options.get("actions") else { return false };
    let is = |json: Option<&Json>, text: &str| {
        json.and_then(Json::word).is_some_and(|word| word == text)
    };
    actions.iter().any(|action| {
        let control = action.get("control_action").and_then(|control| control.get("type"));
        is(action.get("kind"), "gact") && is(control, "drop")
            || is(action.get("mirred_action"), "redirect")
    })
}

/// The table of u32 that a filter is, is in, or links to.
fn table(options: &Json, shown: &mut ShownItem) {
    let word = |key: &str| options.get(key).and_then(Json::word);
    if shown.take_table(|name| word(if name == "divisor" { "ht_divisor" } else { name })) {
        return;
    }
    if let Some(link) = word("link") {
        shown.options.extend(["link".into(), link]);
    }
    if let Some(mask) = word("hash_mask") {
        let at = word("hash_off").unwrap_or("0".into());
        shown.options.extend([
            "hashkey".into(),
            "mask".into(),
            format!("0x{mask}"),
            "at".into(),
            at,
        ]);
    }
    if let Some((mask, shift)) = word("offset_mask").zip(word("offset_shift")) {
        let at = word("offset_off").unwrap_or("0".into());
        let words = ["offset", "at", &at, "mask", &mask, "shift", &shift];
        shown.options.extend(words.map(str::to_string));
    }
}

/// Options of a qdisc of this kind as they are shown as text.
fn words(options: &Json, kind: &str) -> Vec<String> {
    match options {
        Json::Text(text) => text.split_whitespace().map(str::to_string).collect(),
        Json::Object(Members(entries)) => {
            let mut words = Vec::new();
            for (key, value) in entries {
                match value {
                    Json::Flag(true) => words.push(key.clone()),
                    // Times are microseconds, and half a tick below what was written.
                    Json::Number(number) if key == "target" || key == "interval" => {
                        let time = number.as_u64().unwrap_or(0);
                        let time = if time % 10 == 9 { time + 1 } else { time };
                        words.extend([key.clone(), format!("{time}us")]);
                    }
                    Json::Number(number) if key == "rate" && kind != "sfq" => {
                        words.extend([key.clone(), format!("{number}bps")]);
                    }
                    Json::Several(values) => {
                        words.push(key.clone());
                        words.extend(values.iter().filter_map(Json::word));
                    }
                    value => words
                        .extend(value.word().map(|text| [key.clone(), text]).into_iter().flatten()),
                }
            }
            words
        }
        _ => Vec::new(),
    }
}
