//! Classes within classes and their service curves: what is read and what is refused.

use laxity::packet::ClassId;
use laxity::sched::hfsc::Curves;
use laxity::service::ServiceCurve;
use laxity::units::{Bytes, Nanos, Rate};

use super::*;
use crate::model::SchedulerSpec;

const HEAD: &str = "version = 1\nlink.rate = '10mbit'\nscheduler.kind = 'hfsc'\n";

fn read(classes: &str) -> Plan {
    parse(&format!("{HEAD}{classes}")).unwrap_or_else(|error| panic!("{error:?}"))
}

/// Refuses these classes, pointing at the last `at`, with words of the message and of the help.
#[track_caller]
fn refused(classes: &str, at: &str, message: &str, help: &str) {
    let text = format!("{HEAD}{classes}");
    let error = parse(&text).expect_err("this plan is wrong");
    assert!(error.message().contains(message), "{error:?}");
    assert!(error.help().unwrap_or_default().contains(help), "{error:?}");
    let span = error.span().unwrap();
    assert_eq!((&text[span.clone()], span.start), (at, text.rfind(at).unwrap()), "{error}");
}

fn curves(classes: &str) -> Curves {
    read(classes).classes[0].curves
}

#[test]
fn parents_may_come_after_their_children() {
    let plan = read(
        "[class.leaf]\nparent = 'middle'\n[class.alone]\n[class.middle]\nparent = 'top'\n\
         [class.top]\n[class.other]\nparent = 'top'",
    );
    let parents: Vec<_> = plan.classes.iter().map(|class| class.parent).collect();
    let [middle, top] = [Some(ClassId(2)), Some(ClassId(3))];
    assert_eq!(parents, [middle, None, top, None, top]);
    assert_eq!(plan.classes[3].children, [ClassId(2), ClassId(4)]);
    let leaves: Vec<_> = plan.leaves().map(|(id, class)| (id.0, &*class.name)).collect();
    assert_eq!(leaves, [(0, "leaf"), (1, "alone"), (4, "other")]);
    assert_eq!(plan.top().collect::<Vec<_>>(), [ClassId(1), ClassId(3)]);
    assert_eq!(plan.top_down(), [1, 3, 2, 4, 0].map(ClassId));
}

#[test]
fn every_way_to_write_a_curve() {
    let of = |curve: &str| curves(&format!("class.a.link-share = {curve}")).link_share;
    assert_eq!(of("'4.5mbit'"), Some(ServiceCurve::linear(Rate(4_500_000))));
    let audio = ServiceCurve::for_burst(Bytes(160), Nanos(5_000_000), Rate(64_000));
    assert_eq!(of("{ burst = '160b', delay = '5ms', rate = '64kbit' }"), Some(audio));
    assert_eq!(of("{ m1 = '256kbit', d = '5ms', m2 = '64kbit' }"), Some(audio));
    let late = ServiceCurve::two_piece(0, Nanos(5_000_000), Rate(64_000)).ok();
    assert!(late.is_some());
    assert_eq!(of("{ m1 = '0bit', d = '5ms', m2 = '64kbit' }"), late);
    let line = Some(ServiceCurve::linear(Rate(64_000)));
    assert_eq!(of("{ m1 = '64kbit', d = '5ms', m2 = '64kbit' }"), line);
}

#[test]
fn curve_stands_for_real_time_and_link_share() {
    let [one, two] = [1, 2].map(|mbit| Some(ServiceCurve::linear(Rate(mbit * 1_000_000))));
    let expected = Curves { real_time: one, link_share: one, upper_limit: two };
    assert_eq!(curves("[class.a]\ncurve = '1mbit'\nupper-limit = '2mbit'"), expected);
    let expected = Curves { real_time: one, link_share: two, upper_limit: None };
    assert_eq!(curves("[class.a]\nreal-time = '1mbit'\nlink-share = '2mbit'"), expected);
    let expected = Curves { link_share: two, ..Curves::default() };
    assert_eq!(curves("class.a.curve = '2mbit'\nclass.b.parent = 'a'"), expected);
    let expected = Curves { real_time: two, ..Curves::default() };
    assert_eq!(curves("class.a.real-time = '2mbit'"), expected);
}

#[test]
fn every_scheduler_takes_a_hierarchy() {
    let classes = "class.a.curve = '2mbit'\nclass.b.parent = 'a'\nclass.c.parent = 'a'";
    let plan = read(classes);
    for spec in SchedulerSpec::defaults() {
        let kind = spec.kind();
        let other = plan.clone().under(kind.word()).unwrap();
        assert_eq!(other, Plan { scheduler: spec, ..plan.clone() });
        let text = format!("{HEAD}{classes}").replace("hfsc", kind.word());
        let own = parse(&text).map(|plan| plan.scheduler);
        assert_eq!(own.ok(), Some(spec).filter(|_| kind.room().takes_of_classes("parent")));
    }
}

#[test]
fn a_parent_that_is_none() {
    let classes = "[class.video]\n[class.a]\nparent = 'vide'";
    refused(classes, "'vide'", "there is no class `vide`", "did you mean `video`?");
    let classes = "[class.b]\n[class.a]\nparent = 'x'";
    refused(classes, "'x'", "there is no class `x`", "accepted: `b`, `a`");
    refused("class.a.parent = 4", "4", "expected a string, found integer `4`", "");
}

#[test]
fn a_class_above_itself() {
    let own = "class `a` is its own ancestor";
    refused("class.a.parent = 'a'", "'a'", own, "is `a`: one of them");
    let circle = "[class.b]\nparent = 'c'\n[class.c]\nparent = 'b'\n[class.below]\nparent = 'b'";
    refused(circle, "'c'", "class `b` is its own ancestor", "is `c`, `b`: one of them");
    let below = "[class.below]\nparent = 'b'\n[class.b]\nparent = 'c'\n[class.c]\nparent = 'b'";
    refused(below, "'c'", "class `b` is its own ancestor", "");
}

#[test]
fn more_levels_than_there_may_be() {
    let chain = |levels: u32| {
        let below = (1..levels).map(|at| format!("class.c{at}.parent = 'c{}'\n", at - 1));
        format!("class.c0 = {{}}\n{}", below.collect::<String>())
    };
    assert_eq!(read(&chain(64)).classes.len(), 64);
    refused(&chain(65), "'c63'", "class `c64` is more than 64 levels deep", "at most 64 levels");
}

#[test]
fn what_belongs_to_packets_on_a_class_without_any() {
    let contract = "{ bucket = '3kB', rate = '1mbit' }";
    for (key, value) in [
        ("deadline", "'5ms'"),
        ("arrival", contract),
        ("police", "'drop'"),
        ("queue", "{ kind = 'droptail', limit = 9 }"),
        ("match", "'udp'"),
        ("real-time", "'1mbit'"),
    ] {
        let message = format!("`{key}` on class `a`, which has classes below it");
        let help = if key == "real-time" { "write `link-share`" } else { "to the classes below" };
        refused(&format!("class.b.parent = 'a'\nclass.a.{key} = {value}"), value, &message, help);
    }
    let source = "class.b.parent = 'a'\n[class.a]\n[[source]]\nmodel = 'poisson'\nrate = '1mbit'\n\
                  packet = '100b'\nclass = 'a'";
    refused(source, "'a'", "class `a` has classes below it", "below it are `b`");
}

#[test]
fn curves_that_contradict_each_other() {
    let beside = "[class.a]\ncurve = '1mbit'\n";
    let stands = |key: &str| format!("`{key}` beside `curve`, which stands for it");
    let help = "write `curve`, or";
    refused(&format!("{beside}real-time = '2mbit'"), "'2mbit'", &stands("real-time"), help);
    refused(&format!("{beside}link-share = '2mbit'"), "'2mbit'", &stands("link-share"), help);
    let message = "`upper-limit` without a curve to limit";
    refused("class.a.upper-limit = '2mbit'", "'2mbit'", message, "add `link-share`");
    let real_time = "[class.a]\nreal-time = '1mbit'\nupper-limit = '2mbit'";
    refused(real_time, "'2mbit'", message, "add `link-share`");
}

#[test]
fn a_wrong_curve() {
    let curve = |new: &str, at: &str, message: &str, help: &str| {
        refused(
            &format!("class.a.upper-limit = '1mbit'\nclass.a.curve = {new}"),
            at,
            message,
            help,
        );
    };
    let whole = |new: &str, message: &str| curve(new, new, message, "or the rate alone");
    curve("'0bit'", "'0bit'", "`0bit` is zero", "");
    curve("5", "5", "`5` has no unit: write a rate", "");
    curve("'5'", "'5'", "`5` has no unit: write a rate", "");
    curve("true", "true", "expected a rate such as \"64kbit\" or a curve such as {", "");
    curve("['1mbit']", "['1mbit']", "found an array", "");
    whole("{}", "`curve` is empty");
    whole("{ burst = '1kB', rate = '1mbit' }", "`delay` is missing from `curve`");
    whole("{ m2 = '1mbit' }", "`m1` is missing from `curve`");
    whole("{ m1 = '1mbit', d = '1ms', rate = '1mbit' }", "`curve` mixes two ways");
    curve("{ umax = '1kB' }", "umax", "unknown key `umax`", "`burst`, `delay`, `rate`, `m1`");
    let zero = |new: &str, key: &str, at: &str| {
        curve(new, at, &format!("`{key}` is zero: it must be more"), "");
    };
    zero("{ burst = '0b', delay = '1ms', rate = '1mbit' }", "burst", "'0b'");
    zero("{ burst = '1kB', delay = '0ms', rate = '1mbit' }", "delay", "'0ms'");
    zero("{ m1 = '0bit', d = '0ms', m2 = '1mbit' }", "d", "'0ms'");
    curve("{ m1 = '0bit', d = '1ms', m2 = '0bit' }", "'0bit'", "`0bit` is zero", "");
    curve("{ m1 = '-1bit', d = '1ms', m2 = '1bit' }", "'-1bit'", "`-1bit` is negative", "");
    let slow = "{ m1 = '999kbit', d = '1ms', m2 = '1mbit' }";
    let message = "`m1` is 999kbit, between zero and `m2`, 1mbit";
    curve(slow, "'999kbit'", message, "write \"0bit\", or at least \"1mbit\": a curve that");
    let fast = "{ burst = '1MB', delay = '799ns', rate = '1mbit' }";
    let message = "`delay` is 799ns, less than 1MB take at 10000gbit, the highest rate";
    curve(fast, "'799ns'", message, "");
    curves("class.a.curve = { burst = '1MB', delay = '800ns', rate = '1mbit' }");
}
