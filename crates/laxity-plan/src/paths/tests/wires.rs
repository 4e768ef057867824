//! Links that delay packets by more than they have to.

use super::*;

/// A class over four links, and another over the first two of them, with what is said of each link.
fn row(scheduler: &str, links: [&str; 4]) -> Route {
    let link = |(number, keys): (usize, &str)| {
        format!("network.l{number} = {{ between = [\"n{number}\", \"n{}\"]{keys} }}\n", number + 1)
    };
    let links: String = links.into_iter().enumerate().map(link).collect();
    let class = "arrival = { bucket = \"6000b\", rate = \"3mbit\" }, deadline = \"150ms\"";
    let text = format!(
        "{LINK}scheduler.kind = \"{scheduler}\"\nclass.a = {{ {class} }}\nclass.b = {{ {class} }}\n\
         {links}{}{}",
        source("a", &["n0", "n1", "n2", "n3", "n4"]),
        source("b", &["n0", "n1", "n2"])
    );
    paths(&text).routes.swap_remove(0)
}

const JITTER: &str = ", jitter = { uniform = [\"1ms\", \"4ms\"] }";

/// A link that keeps the order adds its largest jitter to what is proved without, by every method,
/// whatever comes: bursts are paid once all the same.
#[test]
fn jitter_in_order_is_added_once() {
    for scheduler in ["fifo", "edf", "priority", "wfq", "wf2q", "drr"] {
        let plain = row(scheduler, [""; 4]);
        let jitter = row(scheduler, [JITTER; 4]);
        let (least, most) = (plain.least().unwrap(), jitter.least().unwrap());
        assert_ne!(least.method, Method::Hops, "{scheduler}");
        assert_eq!(least.method, most.method, "{scheduler}");
        let added = most.delay.0 - least.delay.0;
        // But for nanoseconds that hops may add.
        assert!(added.abs_diff(16 * MS) < 50, "{scheduler}: {least:?} {most:?}");
        let only_last = row(scheduler, ["", "", "", JITTER]);
        assert_eq!(only_last.bound().unwrap(), plain.bound().unwrap() + Nanos(4 * MS));
    }
}

/// Packets that pass one another on a link end what is proved of outputs together, and no more than
/// that: on both sides of the link bursts are paid once.
#[test]
fn a_link_that_mixes_packets_parts_the_path() {
    let reorder = ", reorder = { share = 0.1, by = \"4ms\" }";
    for scheduler in ["fifo", "wfq", "wf2q"] {
        let plain = row(scheduler, [""; 4]);
        let jitter = row(scheduler, ["", JITTER, "", ""]);
        let mixed = row(scheduler, ["", reorder, "", ""]);
        let by = |route: &Route, method| route.by(method).map(|bound| bound.0);
        // As the link delays packets, and one of the bursts is paid twice.
        assert_eq!(by(&mixed, Method::Hops), by(&jitter, Method::Hops), "{scheduler}");
        assert!(mixed.bound().unwrap() > jitter.bound().unwrap(), "{scheduler}");
        assert!(mixed.bound().unwrap() < mixed.by(Method::Hops).unwrap(), "{scheduler}: {mixed:?}");
        assert!(plain.bound().unwrap() + Nanos(4 * MS) <= jitter.bound().unwrap());
        // Nothing comes behind the last link.
        let last = row(scheduler, ["", "", "", reorder]);
        assert_eq!(last.bound().unwrap(), plain.bound().unwrap() + Nanos(4 * MS), "{scheduler}");
    }
}

/// Where packets may go in any order, those of the other class go first for as long as the jitter
/// lasts, too: `r J / R` on top of J, if R is the rate that they leave.
#[test]
fn others_go_first_during_the_jitter() {
    let of = |link| row("priority", [link, "", "", ""]).by(Method::MultiplexingOnce).unwrap();
    let added = of(JITTER).0 - of("").0;
    assert!(added.abs_diff(4 * MS + 4 * MS * 3 / 5) < 50, "{added}");
}
