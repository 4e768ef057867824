//! When promises were in danger, as text.

use laxity_live::status::{DangerCause, MomentStatus};
use laxity_report::quantity;

/// A sentence on a moment at a time in seconds of 1970, without a full stop.
pub(crate) fn danger_text(moment: &MomentStatus, now_s: u64) -> String {
    let MomentStatus { class, from_s, until_s, max_ns, bound_ns, cause } = moment;
    let ago = match now_s.saturating_sub(*until_s) {
        0..5 => "now".to_string(),
        ago => format!("{} ago", rough(ago)),
    };
    let lasted = rough(until_s.saturating_sub(*from_s).max(1));
    let used =
        if moment.is_broken() { "took longer than its bound" } else { "came close to its bound" };
    let share = quantity::percent((*max_ns as f64 / *bound_ns as f64 * 100.0).round() / 100.0);
    let bound = quantity::time(*bound_ns as f64);
    format!("{ago}, for {lasted}: {class} {used}, {share} of {bound}: {}", cause_text(class, cause))
}

fn cause_text(class: &str, cause: &DangerCause) -> String {
    match cause {
        DangerCause::Contract => "it sent more than its `arrival`".into(),
        DangerCause::Late { late_ns } => {
            format!("the link was {} late", quantity::time(*late_ns as f64))
        }
        DangerCause::Class { class: other, percent } if other == class => {
            format!("its own packets were sent for {percent} % of its waiting")
        }
        DangerCause::Class { class: other, percent } => {
            format!("{other} was sent for {percent} % of its waiting")
        }
        DangerCause::Idle { percent } => format!("nothing was sent for {percent} % of its waiting"),
        DangerCause::Unknown => "what delayed it was not counted".into(),
    }
}

/// A time in seconds in its largest whole unit.
fn rough(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_has_its_words() {
        let moment = |max_ns, cause| MomentStatus {
            class: "call".into(),
            from_s: 1_000,
            until_s: 1_012,
            max_ns,
            bound_ns: 5_000_000,
            cause,
        };
        let said =
            |max_ns, now, cause| danger_text(&moment(max_ns, cause), now).replace('\u{a0}', " ");
        let by = |class: &str| DangerCause::Class { class: class.into(), percent: 71 };
        assert_eq!(
            said(4_800_000, 1_192, by("upload")),
            "3 min ago, for 12 s: call came close to its bound, 96 % of 5 ms: upload was sent for 71 % of its waiting"
        );
        assert_eq!(
            said(6_000_000, 1_013, DangerCause::Late { late_ns: 2_000_000 }),
            "now, for 12 s: call took longer than its bound, 120 % of 5 ms: the link was 2 ms late"
        );
        for (cause, words) in [
            (by("call"), "its own packets"),
            (DangerCause::Contract, "more than its `arrival`"),
            (DangerCause::Idle { percent: 3 }, "nothing was sent for 3 %"),
            (DangerCause::Unknown, "not counted"),
        ] {
            let said = said(5_000_000, 300_000, cause);
            assert!(said.starts_with("3 days ago") && said.contains(words), "{said}");
        }
    }
}
