//! Who lends to whom in htb: as it is written down, and as the kernel does it.

mod kernel;

use laxity::service::ServiceCurve;

use super::*;

const QDISC: &str = "tc qdisc add dev eth0 root handle 1: htb default 20\n";

/// A set-up of these classes, each `PARENT CLASS OPTIONS`.
fn classes(classes: &[&str]) -> Import {
    let line = |class: &&str| {
        let (parent, rest) = class.split_once(' ').unwrap();
        format!(
            "tc class add dev eth0 parent {parent} classid {}\n",
            rest.replacen(' ', " htb ", 1)
        )
    };
    import(&format!("{QDISC}{}", classes.iter().map(line).collect::<String>()))
}

/// The rate that a class is guaranteed and the one that it is limited to, in kbit/s.
fn rates(plan: &Plan, name: &str) -> (Option<u64>, Option<u64>) {
    let kbit = |curve: Option<ServiceCurve>| curve.map(|curve| curve.m2().0 / 1_000);
    let curves = class(plan, name).curves;
    (kbit(curves.real_time), kbit(curves.upper_limit))
}

#[test]
fn a_class_at_the_top_has_nobody_to_borrow_from() {
    let import = classes(&[
        "1: 1:1 rate 3500kbit ceil 1000mbit",
        "1:1 1:10 rate 1700kbit ceil 1000mbit",
        "1:1 1:20 rate 50kbit ceil 1000mbit",
    ]);
    let plan = read(&import);
    assert_eq!(plan.link.rate, Rate(3_500_000));
    assert_eq!(rates(&plan, "1-10"), (Some(1_700), None));
    let said = notes(&import, NoteKind::Reading);
    assert_eq!(
        said[1],
        "2: 1:1: its ceil of 1gbit has no effect: at the top there is nobody to borrow from, so it is limited to its \
         rate of 3.5mbit"
    );
}

#[test]
fn leaves_at_the_top_are_limited_to_their_rates() {
    let import = classes(&["1: 1:10 rate 1mbit ceil 10mbit", "1: 1:20 rate 2mbit ceil 10mbit"]);
    let plan = read(&import);
    assert_eq!(plan.link.rate, Rate(3_000_000));
    assert_eq!(rates(&plan, "1-10"), (Some(1_000), Some(1_000)));
    assert_eq!(rates(&plan, "1-20"), (Some(2_000), Some(2_000)));
    let said = notes(&import, NoteKind::Reading);
    assert_eq!(said.iter().filter(|note| note.contains("has no effect")).count(), 2, "{said:?}");
    assert_eq!(
        said[0],
        "1: the link's rate is 3mbit, what the 2 classes at the top may send together"
    );
}

#[test]
fn a_ceil_below_the_rate_is_the_limit() {
    let import = classes(&["1: 1:1 rate 10mbit", "1:1 1:20 rate 3mbit ceil 1mbit"]);
    assert_eq!(rates(&read(&import), "1-20"), (Some(1_000), Some(1_000)));
    let said = notes(&import, NoteKind::Reading);
    assert!(
        said.iter().any(|note| note.contains("1:20: its ceil of 1mbit is below its rate")),
        "{said:?}"
    );
}

#[test]
fn a_shaper_that_does_not_shape_is_told() {
    let import = classes(&["1: 1:1 rate 1mbit", "1:1 1:10 rate 1mbit", "1:1 1:20 rate 1mbit"]);
    assert_eq!(read(&import).link.rate, Rate(2_000_000));
    let said = notes(&import, NoteKind::Reading);
    let expected = "2: 1:1 does not limit what is below it to 1mbit: htb gives each class its rate whatever is above \
                    it, and these come to 2mbit";
    assert_eq!(said[1], expected);
}
