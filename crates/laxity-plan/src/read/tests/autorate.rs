//! Links whose rate is found.

use laxity::autorate::{Millionths, Rule, Settings};
use laxity::units::{Bytes, Nanos, Rate};

use super::*;
use crate::model::{AutorateSpec, Hop, LinkId};

const MS: u64 = 1_000_000;

fn text(rate: &str) -> String {
    format!(
        "version = 1\n[link]\nrate = {rate}\n[scheduler]\nkind = 'edf'\n[class.calls]\n\
         deadline = '40ms'\narrival = {{ bucket = '1kB', rate = '500kbit', packet = '250b' }}\n[class.other]\n"
    )
}

fn spec(rate: &str) -> AutorateSpec {
    let plan = parse(&text(rate)).unwrap();
    (*plan.link.autorate.unwrap()).clone()
}

fn refused(rate: &str) -> String {
    let error = parse(&text(rate)).unwrap_err();
    format!("{} {}", error.message(), error.help().unwrap_or_default())
}

#[test]
fn a_rate_is_found_between_two() {
    let plan = parse(&text("{ from = '5mbit', to = '20mbit' }")).unwrap();
    assert_eq!(plan.link.rate, Rate(5_000_000));
    let AutorateSpec { settings, reflectors, behind } = spec("{ from = '5mbit', to = '20mbit' }");
    assert_eq!(settings, Settings::new(Rule::Delay, Rate(5_000_000), Rate(20_000_000)));
    assert_eq!((settings.start, reflectors.len()), (Rate(10_000_000), 0));
    assert_eq!((behind.buffer, behind.round_trip, behind.jitter), (None, Nanos(30 * MS), None));
}

#[test]
fn every_key_is_read() {
    let spec = spec(
        "{ from = '5mbit', to = '20mbit', by = 'cake-autorate', start = '6mbit', delay = '15ms', interval = '20ms', \
         rise = 0.1, fall = 0.5, reflectors = ['192.0.2.1', '2001:db8::1'], \
         behind = { buffer = '300kB', round-trip = '40ms', jitter = { exponential = '2ms' } } }",
    );
    let expected = Settings {
        rule: Rule::CakeAutorate,
        from: Rate(5_000_000),
        to: Rate(20_000_000),
        start: Rate(6_000_000),
        delay: Nanos(15 * MS),
        interval: Nanos(20 * MS),
        rise: Millionths(100_000),
        fall: Millionths(500_000),
        drain: Nanos(100 * MS),
    };
    assert_eq!(spec.settings, expected);
    assert_eq!(spec.reflectors.len(), 2);
    assert_eq!(spec.behind.buffer, Some(Bytes(300_000)));
    assert!(spec.behind.jitter.is_some());
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (rate, said) in [
        ("{ from = '5mbit' }", "`to` is missing"),
        ("{ from = '5mbit', to = '4mbit' }", "`from` is 5mbit, above `to`, 4mbit"),
        ("{ from = '5mbit', to = '9mbit', start = '1mbit' }", "`start` is 1mbit"),
        ("{ from = '5mbit', to = '9mbit', by = 'magic' }", "magic"),
        ("{ from = '5mbit', to = '9mbit', rise = 0 }", "`rise` is 0"),
        ("{ from = '5mbit', to = '9mbit', fall = 1.5 }", "`fall` is 1.5"),
        ("{ from = '5mbit', to = '9mbit', interval = '2s' }", "`interval` is 2s"),
        ("{ from = '5mbit', to = '9mbit', delay = '0ms' }", "`delay`"),
        ("{ from = '5mbit', to = '9mbit', reflectors = ['far'] }", "`far` is no address"),
        ("{ from = '5mbit', to = '9mbit', behind.round-trip = '3s' }", "`round-trip` is 3s"),
        ("{ from = '5mbit', to = '9mbit', by = 'cake-autorate', drain = '1s' }", "`drain` with"),
        ("{ from = '5mbit', to = '9mbit', speed = 1 }", "speed"),
        ("5", "unit"),
    ] {
        let message = refused(rate);
        assert!(message.contains(said), "{rate}: {message}");
    }
}

/// Bounds are no longer on a faster link, and those of the least rate are the plan's.
#[test]
fn bounds_follow_the_rate() {
    let plan = parse(&text("{ from = '1mbit', to = '20mbit' }")).unwrap();
    let bounds = plan.bounds_by_rate().unwrap();
    let at = |rate: u64| bounds.at(Rate(rate))[0].unwrap();
    assert_eq!(Ok(at(1_000_000)), plan.bounds()[0]);
    assert_eq!(at(1_000_000), at(1_000_001));
    assert!(at(3_000_000) <= at(1_000_000) && at(20_000_000) <= at(3_000_000));
    assert!(bounds.at(Rate(999_999)).is_empty());
    let fixed = parse(&text("'20mbit'")).unwrap();
    assert_eq!(Ok(at(20_000_000)), fixed.bounds()[0]);
    assert_eq!(fixed.bounds_by_rate(), None);
}

#[test]
fn a_link_of_a_network_is_shaped_in_one_direction() {
    let network = "[network]\nup = { between = ['a', 'b'], rate = { from = '2mbit', to = '8mbit' } }\n\
                   other.between = ['b', 'c']\n";
    let plan = parse(&format!("{}{network}", text("'20mbit'"))).unwrap();
    let link = &plan.network.as_ref().unwrap().links[0];
    assert_eq!((link.rate, link.peak()), (Rate(2_000_000), Rate(8_000_000)));
    let there = Hop { link: LinkId(0), backward: false };
    assert!(plan.link_at(there).autorate.is_some());
    assert!(plan.link_at(there.reversed()).autorate.is_none());
    let private = network.replace("'8mbit' }", "'8mbit' }, private = true");
    let error = parse(&format!("{}{private}", text("'20mbit'"))).unwrap_err();
    assert!(error.message().contains("private"), "{}", error.message());
}
