//! What became of packets that were not sent as they came: dropped, and why, or demoted.

use std::collections::BTreeMap;
use std::fmt::Display;

use crate::quantity::count;
use crate::visible::line;

/// As many classes have a sentence of their own.
const MOST: usize = 24;

/// Why packets of a class were dropped, if any were.
pub fn dropped<R: Display>(class: &str, reasons: &BTreeMap<R, u64>) -> Option<String> {
    let all = reasons.values().sum();
    let each = reasons.iter().filter(|(_, packets)| **packets > 0);
    let each: Vec<_> = each.map(|(reason, packets)| (reason.to_string(), *packets)).collect();
    let why = match &each[..] {
        [] => return None,
        [(only, _)] => only.clone(),
        several => {
            let each = several.iter().map(|(why, packets)| format!("{} {why}", count(*packets)));
            each.collect::<Vec<_>>().join(", ")
        }
    };
    Some(format!("{} dropped: {why}.", count_text(class, all)))
}

/// That packets of a class were demoted, if any were.
pub fn demoted(class: &str, packets: u64) -> Option<String> {
    (packets > 0).then(|| format!("{} demoted to best effort.", count_text(class, packets)))
}

/// That packets of a class broke its arrival curve, if any did.
pub fn nonconforming(class: &str, packets: u64) -> Option<String> {
    let (class, counted) = (line(class), if packets == 1 { "packet" } else { "packets" });
    let sentence = || format!("{class}: {} {counted} broke its arrival curve.", count(packets));
    (packets > 0).then(sentence)
}

/// That a class has forfeited its promise, with the packets that were later than its bound.
pub fn forfeit(class: &str, late: u64) -> String {
    let were = match late {
        0 => String::new(),
        1 => ": 1 packet beyond its bound is no broken promise".into(),
        _ => format!(": {} packets beyond its bound are no broken promise", count(late)),
    };
    format!(
        "{}: nothing is promised it any more, as what broke its curve is only counted{were}.",
        line(class)
    )
}

/// Those of the first classes, and how many there are of others.
pub fn sentences(all: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut all = all.into_iter();
    let mut shown: Vec<String> = all.by_ref().take(MOST).collect();
    let more = all.count();
    if more > 0 {
        shown.push(format!("The same of {} more classes.", count(more as u64)));
    }
    shown
}

fn count_text(class: &str, packets: u64) -> String {
    let (class, were) = (line(class), if packets == 1 { "packet was" } else { "packets were" });
    format!("{class}: {} {were}", count(packets))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_told_with_their_packets() {
        let reasons = |of: &[(&'static str, u64)]| of.iter().copied().collect::<BTreeMap<_, _>>();
        assert_eq!(dropped("a", &reasons(&[])), None);
        assert_eq!(dropped("a", &reasons(&[("limit", 0)])), None);
        let said = dropped("a", &reasons(&[("limit", 1)]));
        assert_eq!(said.as_deref(), Some("a: 1 packet was dropped: limit."));
        let said = dropped("a", &reasons(&[("contract", 2000), ("limit", 3)]));
        let wanted = "a: 2\u{202f}003 packets were dropped: 2\u{202f}000 contract, 3 limit.";
        assert_eq!(said.as_deref(), Some(wanted));
        let forfeits = [0, 1, 2].map(|late| forfeit("a", late));
        assert!(forfeits[0].ends_with("only counted."), "{forfeits:?}");
        assert!(forfeits[1].ends_with("1 packet beyond its bound is no broken promise."));
        assert!(forfeits[2].ends_with("2 packets beyond its bound are no broken promise."));
        assert_eq!(nonconforming("a", 0), None);
        assert_eq!(nonconforming("a", 1).as_deref(), Some("a: 1 packet broke its arrival curve."));
        assert_eq!(demoted("a", 0), None);
        assert_eq!(demoted("a", 2).as_deref(), Some("a: 2 packets were demoted to best effort."));
    }

    #[test]
    fn of_a_million_classes_some_are_told() {
        let all = (0..1_000_000).map(|at| format!("{at}"));
        let said = sentences(all);
        assert_eq!(said.len(), MOST + 1);
        assert!(said[MOST].contains("999\u{202f}976 more classes"), "{}", said[MOST]);
    }
}
