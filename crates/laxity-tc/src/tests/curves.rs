//! The curves of hfsc and the rates of htb.

use laxity::service::ServiceCurve;
use laxity::units::{Bytes, Nanos, Rate};
use proptest::prelude::*;

use super::{HEAD, NoteKind, class, import, notes, plan, read};

const KBIT: u64 = 1_000;

/// The plan's text of the curves of a leaf 1:30.
fn written(curves: &str) -> Vec<String> {
    let line = format!("tc class add dev eth0 parent 1:1 classid 1:30 hfsc {curves}\n");
    let import = import(&format!("{HEAD}{line}"));
    read(&import);
    let from = import.plan.find("[class.1-30]").unwrap();
    let keys = ["curve", "real-time", "link-share", "upper-limit"];
    let lines = import.plan[from..].lines().skip(1).take_while(|line| !line.is_empty());
    lines.filter(|line| keys.iter().any(|key| line.starts_with(key))).map(str::to_string).collect()
}

#[test]
fn all_forms_of_a_curve() {
    let burst = r#"{ burst = "160b", delay = "5ms", rate = "64kbit" }"#;
    assert_eq!(written("sc umax 160b dmax 5ms rate 64kbit"), [format!("curve = {burst}")]);
    assert_eq!(written("rt umax 160 dmax 5000 rate 64Kbit"), [format!("real-time = {burst}")]);
    assert_eq!(written("ls rate 64000"), [r#"link-share = "64kbit""#]);
    assert_eq!(
        written("sc dmax 5ms rate 1mbit"),
        [r#"curve = { m1 = "0bit", d = "5ms", m2 = "1mbit" }"#]
    );
    assert_eq!(
        written("rt m1 256kbit d 5ms m2 64kbit"),
        [r#"real-time = { m1 = "256kbit", d = "5ms", m2 = "64kbit" }"#]
    );
    assert_eq!(
        written("ls d 10ms m2 1mbit"),
        [r#"link-share = { m1 = "0bit", d = "10ms", m2 = "1mbit" }"#]
    );
    assert_eq!(written("sc m1 2mbit m2 1mbit"), [r#"curve = "1mbit""#]);
    assert_eq!(written("sc m1 1mbit d 1s m2 1mbit"), [r#"curve = "1mbit""#]);
    // tc takes the beginning of a keyword, and `d` for `dmax` before `rate`.
    assert_eq!(written("sc um 160b dm 5ms r 64kbit"), [format!("curve = {burst}")]);
    assert_eq!(
        written("sc d 5ms rate 1mbit"),
        [r#"curve = { m1 = "0bit", d = "5ms", m2 = "1mbit" }"#]
    );
}

#[test]
fn curves_in_any_order() {
    let expected =
        [r#"real-time = "1mbit""#, r#"link-share = "2mbit""#, r#"upper-limit = "3mbit""#];
    for curves in ["rt m2 1mbit ls m2 2mbit ul m2 3mbit", "ul m2 3mbit ls m2 2mbit rt m2 1mbit"] {
        assert_eq!(written(curves), expected);
    }
    assert_eq!(written("rt m2 1mbit ls m2 1mbit"), [r#"curve = "1mbit""#]);
    assert_eq!(written("sc m2 2mbit rt m2 1mbit"), expected[..2]);
    assert_eq!(written("ls m2 2mbit ul m2 10mbit"), [r#"link-share = "2mbit""#]);
}

#[test]
fn a_curve_that_ends_flat_goes_on_at_the_lowest_rate() {
    assert_eq!(
        written("sc m1 1mbit d 20ms m2 0"),
        [r#"curve = { m1 = "1mbit", d = "20ms", m2 = "1bit" }"#]
    );
    let line = "tc class add dev eth0 parent 1:1 classid 1:30 hfsc rt umax 1k dmax 8ms rate 0bit\n";
    let import = import(&format!("{HEAD}{line}"));
    let curve = class(&read(&import), "1-30").curves.real_time;
    assert_eq!(curve, ServiceCurve::two_piece(1_024 * KBIT, Nanos(8_000_000), Rate(1)).ok());
    let told = notes(&import, NoteKind::NotMapped);
    assert!(told.iter().any(|note| note.starts_with("5: 1:30 rt: it ends flat")), "{told:?}");
}

#[test]
fn htb_guarantees_and_shares_by_rate() {
    let plan = plan(
        "tc qdisc add dev eth0 root handle 1: htb default 30\n\
         tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit burst 15k\n\
         tc class add dev eth0 parent 1:1 classid 1:2 htb rate 4mbit ceil 8mbit\n\
         tc class add dev eth0 parent 1:2 classid 1:20 htb rate 1mbit ceil 8mbit\n\
         tc class add dev eth0 parent 1:2 classid 1:21 htb rate 3mbit\n\
         tc class add dev eth0 parent 1:1 classid 1:30 htb rate 6mbit ceil 10mbit\n",
    );
    assert_eq!(plan.link.rate, Rate(10_000 * KBIT));
    let line = |rate: u64| Some(ServiceCurve::linear(Rate(rate * KBIT)));
    let curves = |name| {
        let curves = class(&plan, name).curves;
        (curves.real_time, curves.link_share, curves.upper_limit)
    };
    assert_eq!(curves("1-2"), (None, line(4_000), line(8_000)));
    assert_eq!(curves("1-20"), (line(1_000), line(1_000), None));
    assert_eq!(curves("1-21"), (line(3_000), line(3_000), line(3_000)));
    assert_eq!(curves("1-30"), (line(6_000), line(6_000), None));
}

/// The plan's line and the note on a `stab` at the root.
fn overhead(stab: &str) -> (Option<String>, Vec<String>) {
    let import = import(&format!(
        "tc qdisc add dev eth0 root handle 1: stab {stab} htb default 10\n\
         tc class add dev eth0 parent 1: classid 1:10 htb rate 2mbit\n"
    ));
    read(&import);
    let line = import.plan.lines().find_map(|line| line.strip_prefix("overhead = "));
    let told = import.notes.iter().filter(|note| note.text.starts_with("stab"));
    (line.map(str::to_string), told.map(|note| note.text.clone()).collect())
}

#[test]
fn what_the_link_adds_to_frames() {
    let steps = "stab: Linux looks lengths up in steps of some bytes, a plan has each";
    let plain = |line: &str| (Some(line.to_string()), vec![]);
    let stepped = |line: &str| (Some(line.to_string()), vec![steps.to_string()]);
    assert_eq!(overhead("overhead 24"), plain("\"ethernet\""));
    assert_eq!(overhead("overhead 8 linklayer ethernet"), plain("\"8b\""));
    assert_eq!(overhead("overhead -4"), plain("\"-4b\""));
    assert_eq!(overhead("overhead 4 mpu 64"), stepped("\"docsis\""));
    assert_eq!(overhead("overhead 18 linklayer adsl"), stepped("\"pppoe-vcmux\""));
    assert_eq!(
        overhead("mtu 2048 linklayer atm overhead 40 mpu 53 tsize 128"),
        stepped(r#"{ bytes = "40b", at-least = "53b", framing = "atm" }"#)
    );
    let text = "stab (overhead 2000): a plan adds -64 to 1000 bytes, and pads to 1000";
    assert_eq!(overhead("overhead 2000"), (None, vec![text.to_string()]));
}

#[test]
fn what_htb_has_besides_is_told() {
    let import = import(
        "tc qdisc add dev eth0 root handle 1: htb default 10 r2q 5\n\
         tc class add dev eth0 parent 1: classid 1:1 htb rate 2mbit\n\
         tc class add dev eth0 parent 1:1 classid 1:10 htb rate 1mbit prio 1 maxburst 2k quantum 1514\n\
         tc class add dev eth0 parent 1:1 classid 1:11 htb rate 1mbit ceil 2mbit prio 2 overhead 8\n\
         tc filter add dev eth0 protocol ip prio 1 u32 match ip dport 53 0xffff flowid 1:11\n",
    );
    assert_eq!(
        notes(&import, NoteKind::NotMapped),
        [
            "3: burst: after a pause a class of htb sends that much at once, such as 2048 bytes of 1:10; with all of \
             them others may wait 8.2ms longer than the plan says",
            "4: 1:11: overhead of htb",
            "4: prio: of classes within their rates htb asks those of a lower prio first, of which a plan knows nothing",
        ]
    );
}

#[test]
fn classes_with_classes_below_them_have_no_guarantee() {
    let script = format!(
        "{HEAD}tc class add dev eth0 parent 1:1 classid 1:2 hfsc rt m2 1mbit\n\
         tc class add dev eth0 parent 1:2 classid 1:21 hfsc sc m2 1mbit\n\
         tc class add dev eth0 parent 1:1 classid 1:3 hfsc rt m2 1mbit ls m2 2mbit\n\
         tc class add dev eth0 parent 1:3 classid 1:31 hfsc sc m2 1mbit\n"
    );
    let import = import(&script);
    let plan = read(&import);
    for (name, rate) in [("1-2", 1_000), ("1-3", 2_000)] {
        let curves = class(&plan, name).curves;
        let expected = Some(ServiceCurve::linear(Rate(rate * KBIT)));
        assert_eq!((curves.real_time, curves.link_share), (None, expected));
    }
    let told = notes(&import, NoteKind::Reading);
    assert!(
        told.iter().any(|note| note.starts_with("5: 1:2: its `rt` becomes a share")),
        "{told:?}"
    );
    assert!(told.iter().any(|note| note.starts_with("7: 1:3: its `rt` is left out")), "{told:?}");
}

proptest! {
    /// A convex curve that does not start flat becomes one that does, never above it and with the
    /// same second piece.
    #[test]
    fn a_bent_curve_stays_below(m1 in 1u64..5_000, more in 1u64..5_000, d in 1u64..2_000) {
        let line = format!(
            "tc class add dev eth0 parent 1:1 classid 1:30 hfsc sc m1 {m1}kbit d {d}ms m2 {}kbit\n",
            m1 + more
        );
        let import = import(&format!("{HEAD}{line}"));
        let bent = class(&read(&import), "1-30").curves.real_time.unwrap();
        prop_assert_eq!((bent.m1(), bent.m2()), (0, Rate((m1 + more) * KBIT)));
        let (m1, m2, d) = (u128::from(m1), u128::from(m1 + more), u128::from(d) * 1_000_000);
        let asked = |t: u128| m1 * t.min(d) + m2 * t.saturating_sub(d);
        let got = |t: u128| m2 * t.saturating_sub(u128::from(bent.d().0));
        for t in [0, u128::from(bent.d().0), d / 2, d, d + 1, 10 * d] {
            prop_assert!(got(t) <= asked(t));
        }
        // Less than a nanosecond of the second slope is lost.
        prop_assert!(asked(10 * d) - got(10 * d) < m2);
        let told = notes(&import, NoteKind::NotMapped);
        prop_assert!(told.iter().any(|note| note.starts_with("5: 1:30 sc: it starts with")));
    }

    /// A burst means the same to Laxity as to tc, which rounds to microseconds and bytes a second.
    #[test]
    fn a_burst_is_the_curve_that_tc_makes_of_it(
        umax in 1u64..100_000, dmax in 1u64..1_000_000, rate in 1u64..1_000_000,
    ) {
        let line = format!(
            "tc class add dev eth0 parent 1:1 classid 1:30 hfsc rt umax {umax} dmax {dmax}us rate {rate}bps\n"
        );
        let curve = class(&plan(&format!("{HEAD}{line}")), "1-30").curves.real_time.unwrap();
        prop_assert_eq!(
            curve,
            ServiceCurve::for_burst(Bytes(umax), Nanos(dmax * 1_000), Rate(8 * rate))
        );
        let tc_m1 = (umax * 1_000_000).div_ceil(dmax);
        if tc_m1 > rate {
            prop_assert!(curve.is_concave() || curve.m1() == 8 * rate);
            prop_assert!(curve.m1().abs_diff(8 * tc_m1) <= 8);
        } else {
            let flat = (dmax as f64 - umax as f64 * 1e6 / rate as f64).ceil();
            prop_assert!((curve.flat().0 as f64 / 1e3 - flat).abs() <= 1.0);
        }
    }
}
