//! Classes of alike streams, what they may lose, and the options of DWCS.

use laxity::sched::dwcs::{DwcsSettings, Late, Precedence, Stream, Streams, Violation};
use laxity::units::{Bytes, Nanos, Rate};
use laxity::window::Loss;

use super::*;
use crate::model::{SchedulerSpec, Source, TokenBucket};

const HEAD: &str = "version = 1\nlink = { rate = '10mbit', max-packet = '1250b' }\n";
const MS: u64 = 1_000_000;

fn read(rest: &str) -> Plan {
    let text = format!("{HEAD}{rest}");
    parse(&text).unwrap_or_else(|error| panic!("{error:?}"))
}

/// Refuses this, pointing at the last `at`, with words of the message and of the help.
#[track_caller]
fn refused(rest: &str, at: &str, message: &str, help: &str) {
    let text = format!("{HEAD}{rest}");
    let error = parse(&text).expect_err("this plan is wrong");
    assert!(error.message().contains(message), "{error:?}");
    assert!(error.help().unwrap_or_default().contains(help), "{error:?}");
    let span = error.span().unwrap();
    assert_eq!((&text[span.clone()], span.start), (at, text.rfind(at).unwrap()), "{error}");
}

/// A class under DWCS.
fn class(keys: &str) -> String {
    format!("scheduler.kind = 'dwcs'\n[class.a]\n{keys}")
}

fn loss(text: &str) -> Loss {
    text.parse().unwrap()
}

#[test]
fn streams_and_their_defaults() {
    let plan = read(&class("gap = '33ms'\nloss = '1/80'\ncount = 60\n[class.rest]"));
    let [a, rest] = &plan.classes[..] else { panic!("two classes") };
    assert_eq!((a.count, a.gap, a.loss), (60, Some(Nanos(33 * MS)), Some(loss("1/80"))));
    assert_eq!((a.late, a.relative_deadline()), (Late::Drop, a.gap));
    assert_eq!((rest.count, rest.gap, rest.loss, rest.late), (1, None, None, Late::Send));
    let late = |keys: &str| read(&class(&format!("gap = '33ms'\n{keys}"))).classes[0].late;
    assert_eq!(late(""), Late::Send);
    assert_eq!(late("late = 'drop'"), Late::Drop);
    assert_eq!(late("loss = '1/80'\nlate = 'send'"), Late::Send);
}

#[test]
fn options_of_dwcs() {
    let settings = |options: &str| {
        read(&format!("class.a = {{}}\n[scheduler]\nkind = 'dwcs'\n{options}")).scheduler
    };
    assert_eq!(settings(""), SchedulerSpec::DWCS);
    let all = "precedence = 'deadline-first'\nviolation = 'favour'\ncheck-every = 12";
    let precedence = Precedence::DeadlineFirst;
    let violation = Violation::Favour;
    let expected = SchedulerSpec::Dwcs(DwcsSettings { precedence, violation, check_every: 12 });
    assert_eq!(settings(all), expected);
    assert_eq!(settings("precedence = 'loss-first'\nviolation = 'reset'"), SchedulerSpec::DWCS);
}

#[test]
fn options_of_another_scheduler() {
    let options = |kind: &str, option: &str| {
        format!("class.a = {{}}\n[scheduler]\nkind = '{kind}'\n{option}")
    };
    for (option, at) in [
        ("precedence = 'loss-first'", "'loss-first'"),
        ("violation = 'reset'", "'reset'"),
        ("check-every = 2", "2"),
    ] {
        let key = option.split(' ').next().unwrap();
        let message = format!("`{key}` does not belong to `kind = \"edf\"`");
        refused(&options("edf", option), at, &message, "write `kind = \"dwcs\"`");
    }
    let message = "`best-effort` does not belong to `kind = \"dwcs\"`";
    refused(&options("dwcs", "best-effort = 'exact'"), "'exact'", message, "kind = \"edf\"");
    refused(&options("dwcs", "check-every = 0"), "0", "`check-every` is zero", "");
    let message = "`check-every` is 5000000000, above the largest, 4294967295";
    refused(&options("dwcs", "check-every = 5000000000"), "5000000000", message, "");
    let unknown = "unknown word `loss`";
    refused(&options("dwcs", "precedence = 'loss'"), "'loss'", unknown, "`deadline-first`");
}

#[test]
fn what_is_no_tolerance() {
    let of = |loss: &str, message: &str| {
        refused(&class(&format!("gap = '33ms'\nloss = {loss}")), loss, message, "");
    };
    of("'3/2'", "`3/2` allows more losses than there are packets");
    of("'0/0'", "`0/0` has a window of 0 packets: it must be 1 to 65535");
    of("'1/0'", "`1/0` has a window of 0 packets");
    of("'1/70000'", "`1/70000` has a window of 70000 packets");
    of("'1%'", "write how many packets may be lost of how many, such as `1/80`");
    of("'-1/2'", "`-1/2` is not a loss tolerance");
    of("0.01", "expected a loss tolerance such as \"1/80\"");
    of(&format!("'1/{}'", "9".repeat(99)), "too long for a loss tolerance");
}

#[test]
fn what_streams_cannot_be() {
    refused(&class("gap = '0ms'"), "'0ms'", "`gap` is zero: it must be more", "");
    refused(&class("count = 0"), "0", "`count` is zero: it must be more", "");
    let billion = "count = 1000000000";
    let message = "the `count`s of all classes together are at most 1000000";
    refused(&class(billion), "1000000000", message, "");
    let two = "count = 500000\n[class.b]\ncount = 500001";
    refused(&class(two), "500001", message, "");
    let message = "`loss` without `gap` or `deadline`: without deadlines no packet is late";
    refused(&class("loss = '1/80'"), "'1/80'", message, "add `gap");
    let message = "`late` without `gap` or `deadline`";
    refused(&class("late = 'drop'"), "'drop'", message, "add `gap");
    refused(
        &class("gap = '1ms'\nlate = 'keep'"),
        "'keep'",
        "unknown word `keep`",
        "`drop`, `send`",
    );
    let windows = "gap = '1ms'\nloss = '1/1001'\ncount = 1000000";
    let message = "the windows of all streams together hold more than 1000000000 packets";
    refused(&class(windows), "'1/1001'", message, "a smaller second number in `loss`");
    for (key, value) in [("gap", "'5ms'"), ("loss", "'1/5'"), ("count", "5"), ("late", "'drop'")] {
        let message = format!("`{key}` on class `a`, which has classes below it");
        let keys = format!("{key} = {value}\n[class.b]\nparent = 'a'");
        refused(&class(&keys), value, &message, "give it to the classes below");
    }
}

#[test]
fn a_source_has_a_copy_for_every_stream() {
    let source = |class: &str, source: &str| {
        let rest = format!(
            "scheduler.kind = 'fifo'\nclass.a = {{ {class} }}\n[[source]]\nclass = 'a'\npacket = '100b'\n{source}"
        );
        match read(&rest).sources.remove(0) {
            Source::Model(source) => source.count,
            Source::Tcp(_) | Source::Recording(_) => panic!("a model"),
        }
    };
    for model in ["model = 'backlogged'", "model = 'constant'\nrate = '1mbit'"] {
        assert_eq!(source("count = 60", model), 60);
        assert_eq!(source("count = 60", &format!("{model}\ncount = 7")), 7);
        assert_eq!(source("", model), 1);
    }
    let two = "scheduler.kind = 'fifo'\nclass.a.count = 600000\n\
               [[source]]\nclass = 'a'\nmodel = 'constant'\nrate = '1kbit'\npacket = '100b'\n\
               [[source]]\nclass = 'a'\nmodel = 'constant'\nrate = '1kbit'\npacket = '100b'";
    refused(two, "[[source]]", "too many sources", "as its class has streams, 600000");
}

#[test]
fn what_dwcs_derives() {
    let contract = "arrival = { bucket = '3kB', rate = '1mbit' }";
    let plan = read(&class(&format!(
        "gap = '33ms'\nloss = '1/80'\ncount = 60\n[class.due]\ndeadline = '9ms'\n{contract}\n\
         [class.both]\ndeadline = '9ms'\n{contract}\ngap = '20ms'\n[class.rest]"
    )));
    let streams = |gap: Option<u64>, text: &str, late: Late, count: u32| Streams {
        stream: Stream { gap: gap.map(|ms| Nanos(ms * MS)), loss: loss(text), late },
        count,
    };
    assert_eq!(
        plan.dwcs_streams(),
        [
            streams(Some(33), "1/80", Late::Drop, 60),
            streams(Some(9), "0/1", Late::Send, 1),
            streams(Some(20), "0/1", Late::Send, 1),
            streams(None, "1/1", Late::Send, 1),
        ]
    );
}

#[test]
fn edf_takes_a_stream_to_send_a_packet_a_gap() {
    let plan = read(
        "scheduler.kind = 'edf'\n[class.a]\ngap = '30ms'\ncount = 2\n[class.b]\ngap = '20ms'\n\
         arrival = { bucket = '3kB', rate = '1mbit', packet = '500b' }\n[class.rest]",
    );
    // 2500 bytes every 30 ms: 666 666.7 bit/s.
    let derived = TokenBucket { bucket: Bytes(2_500), rate: Rate(666_667) };
    let written = TokenBucket { bucket: Bytes(3_000), rate: Rate(1_000_000) };
    let system = plan.edf_system();
    let real_time: Vec<_> =
        system.real_time.iter().map(|class| (class.deadline, &class.arrival[..])).collect();
    let [a, b] = [Nanos(30 * MS), Nanos(20 * MS)];
    assert_eq!(real_time, [(a, &[derived][..]), (b, &[written][..])]);
    // Only what is known of a class's traffic bounds its delay.
    let bounds = Plan { scheduler: SchedulerSpec::EDF, ..plan.clone() }.bounds();
    let has_bound: Vec<_> = bounds.iter().map(Result::is_ok).collect();
    assert_eq!(has_bound, [false, true, false]);
}

#[test]
fn the_most_streams_with_the_shortest_gap_overflow_nothing() {
    let plan = read("scheduler.kind = 'edf'\n[class.a]\ngap = '1ns'\ncount = 1000000");
    assert!(!plan.edf_admission(crate::model::BestEffort::Exact).admitted);
}

/// Every key of streams and of DWCS is a property of the schema, and none may be `null`.
#[test]
fn the_schema_knows_streams() {
    let schema = crate::schema().to_value();
    let defs = &schema["$defs"];
    for key in ["count", "gap", "loss", "late"] {
        assert!(defs["Class"]["properties"][key].is_object(), "{key}");
    }
    for key in ["precedence", "violation", "check-every"] {
        assert!(defs["Scheduler"]["properties"][key].is_object(), "{key}");
    }
    assert_eq!(defs["Loss"]["type"], "string");
    let text = schema.to_string();
    for word in ["loss-first", "deadline-first", "favour", "reset", "dwcs", "drop", "send"] {
        assert!(text.contains(&format!("\"{word}\"")), "{word}");
    }
    assert!(!text.contains("null"));
}
