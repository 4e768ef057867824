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
    let plan = read(&import);
    assert_eq!(plan.link.rate, Rate(2_000_000));
    // The plan alone says so, too.
    let title = "Imported from script.sh: 1:1 lets 2mbit through, not 1mbit";
    assert_eq!(plan.title.as_deref(), Some(title));
    let said = notes(&import, NoteKind::Reading);
    let expected = "2: 1:1 does not limit what is below it to 1mbit: htb gives each class its rate whatever is above \
                    it, and these come to 2mbit";
    assert_eq!(said[1], expected);
}

/// What a class is to get in proportion to its siblings, in kbit/s.
fn share(plan: &Plan, name: &str) -> Option<u64> {
    class(plan, name).curves.link_share.map(|curve| curve.m2().0 / 1_000)
}

#[test]
fn what_is_left_over_is_dealt_in_turns_of_leaves() {
    let tree = |long: &str| {
        classes(&[
            "1: 1:1 rate 4900kbit",
            "1:1 1:2 rate 2800kbit ceil 28mbit",
            &format!("1:2 1:10 rate 1300kbit ceil 3900kbit quantum 12000{long}"),
            &format!("1:2 1:20 rate 1mbit ceil 2mbit{long}"),
            &format!("1:2 1:30 rate 800kbit ceil 1600kbit quantum 12000{long}"),
            &format!("1:1 1:40 rate 600kbit ceil 1200kbit{long}"),
        ])
    };
    // The kernel has sent 1634, 1351, 1110 and 811 kbit/s of them.
    let import = tree(" cburst 15k");
    let plan = read(&import);
    let shares = ["1-2", "1-10", "1-20", "1-30", "1-40"].map(|name| share(&plan, name));
    assert_eq!(shares, [4_095, 1_627, 1_340, 1_127, 804].map(Some));
    assert_eq!(rates(&plan, "1-10"), (Some(1_300), Some(3_900)));
    let said = notes(&import, NoteKind::Reading).join("\n");
    assert!(
        said.contains("12000 bytes of 1:10 and 12500 of 1:20, whatever classes are between"),
        "{said}"
    );
    // As bursts have it: 1846, 1296, 991 and 763 kbit/s.
    let lost = notes(&tree(""), NoteKind::NotMapped).join("\n");
    assert!(lost.contains("4: 1:10 and 3 more: a `ceil` below what is lent"), "{lost}");
    assert!(!notes(&import, NoteKind::NotMapped).join("\n").contains("a `ceil` below"));
}

#[test]
fn leaves_of_a_lower_prio_borrow_first() {
    let import = classes(&[
        "1: 1:1 rate 4mbit",
        "1:1 1:10 rate 1mbit ceil 4mbit prio 1",
        "1:1 1:20 rate 1mbit ceil 2mbit",
        "1:1 1:30 rate 500kbit ceil 4mbit prio 1 quantum 25000",
    ]);
    let plan = read(&import);
    let shares = ["1-10", "1-20", "1-30"].map(|name| share(&plan, name));
    assert_eq!(shares, [1_166, 2_000, 833].map(Some));
    let said = notes(&import, NoteKind::Reading).join("\n");
    assert!(said.contains("leaves of a lower prio borrow first"), "{said}");
}

#[test]
fn rates_that_quanta_follow_are_the_shares() {
    let plan = read(&classes(&[
        "1: 1:1 rate 10mbit",
        "1:1 1:10 rate 1mbit ceil 10mbit",
        "1:1 1:20 rate 3mbit ceil 10mbit",
    ]));
    assert_eq!(["1-10", "1-20"].map(|name| share(&plan, name)), [1_000, 3_000].map(Some));
}
