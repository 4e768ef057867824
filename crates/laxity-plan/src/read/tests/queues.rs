//! `queue = { … }`: who gets in.

use laxity::aqm::{Choke, CoDel, Fraction, Limit, Measure, Pie, Red, Spacing};
use laxity::units::{Bytes, Nanos};

use super::parse;
use crate::model::{DropTailSpec, Late, QueueLimit, QueueSpec, SchedulerSpec};

fn plan(scheduler: &str, class: &str) -> String {
    format!(
        "version = 1\n[link]\nrate = '12mbit'\nmax-packet = '1500b'\n\
         [scheduler]\nkind = 'edf'\n{scheduler}\n[class.a]\n{class}\n[class.b]\n"
    )
}

const RED: Red = Red {
    min: 50,
    max: 150,
    measure: Measure::Packets,
    limit: Limit::Packets(300),
    max_p: Fraction::millionths(100_000),
    weight: Fraction::millionths(2_000),
    gentle: true,
    ecn: false,
    spacing: Spacing::Uniform,
    transmission: Nanos(1_000_000),
};

#[test]
fn every_kind_is_read() {
    let cases = [
        ("kind = 'droptail', limit = '3kB'", QueueSpec::limited(QueueLimit::Bytes(Bytes(3_000)))),
        (
            "kind = 'droptail', limit = 100, mark = 20",
            QueueSpec::DropTail(DropTailSpec {
                limit: QueueLimit::Packets(100),
                mark: Some(QueueLimit::Packets(20)),
            }),
        ),
        (
            "kind = 'droptail', limit = '90kB', mark = '30kB'",
            QueueSpec::DropTail(DropTailSpec {
                limit: QueueLimit::Bytes(Bytes(90_000)),
                mark: Some(QueueLimit::Bytes(Bytes(30_000))),
            }),
        ),
        ("kind = 'red', min = 50, max = 150, limit = 300", QueueSpec::Red(RED)),
        (
            "kind = 'red', min = '5kB', max = '15kB', limit = 300, max-p = 1, weight = 0.25, \
             gentle = false, ecn = true, spacing = 'wait'",
            QueueSpec::Red(Red {
                min: 5_000,
                max: 15_000,
                measure: Measure::Bytes,
                max_p: Fraction::ONE,
                weight: Fraction::millionths(250_000),
                gentle: false,
                ecn: true,
                spacing: Spacing::Wait,
                ..RED
            }),
        ),
        (
            "kind = 'choke', min = 50, max = 150, limit = 300",
            QueueSpec::Choke(Choke { red: RED, candidates: 1 }),
        ),
        (
            "kind = 'choke', min = 50, max = 150, limit = 300, candidates = 3",
            QueueSpec::Choke(Choke { red: RED, candidates: 3 }),
        ),
        (
            "kind = 'codel', limit = 1000",
            QueueSpec::CoDel(CoDel {
                target: Nanos(5_000_000),
                interval: Nanos(100_000_000),
                limit: Limit::Packets(1000),
                ecn: false,
                max_packet: Bytes(1500),
            }),
        ),
        (
            "kind = 'codel', limit = '1MB', target = '1ms', interval = '20ms', ecn = true",
            QueueSpec::CoDel(CoDel {
                target: Nanos(1_000_000),
                interval: Nanos(20_000_000),
                limit: Limit::Bytes(1_000_000),
                ecn: true,
                max_packet: Bytes(1500),
            }),
        ),
        (
            "kind = 'pie', limit = 1000",
            QueueSpec::Pie(Pie {
                target: Nanos(15_000_000),
                update: Nanos(15_000_000),
                alpha: 125_000,
                beta: 1_250_000,
                burst: Nanos(150_000_000),
                limit: Limit::Packets(1000),
                ecn: false,
                packet: Bytes(1500),
            }),
        ),
        (
            "kind = 'pie', limit = '1MB', target = '5ms', update = '8ms', alpha = 2, beta = 0, burst = '0s', \
             ecn = true",
            QueueSpec::Pie(Pie {
                target: Nanos(5_000_000),
                update: Nanos(8_000_000),
                alpha: 2_000_000,
                beta: 0,
                burst: Nanos::ZERO,
                limit: Limit::Bytes(1_000_000),
                ecn: true,
                packet: Bytes(1500),
            }),
        ),
    ];
    for (keys, expected) in cases {
        let queue = format!("queue = {{ {keys} }}");
        let own = parse(&plan("", &queue)).unwrap();
        let of_class = own.classes[0].queue.as_deref();
        assert_eq!((own.queue, of_class), (None, Some(&expected)), "{keys}");
        let shared = parse(&plan(&queue, "")).unwrap();
        assert_eq!((shared.queue, &shared.classes[0].queue), (Some(expected), &None), "{keys}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |keys: &str, at: &str, message: &str, help: &str| {
        let error = parse(&plan("", &format!("queue = {{ {keys} }}"))).unwrap_err();
        assert_eq!(error.message(), message);
        assert_eq!(&error.text()[error.span().unwrap()], at, "{error}");
        assert!(error.help().unwrap_or_default().contains(help), "{error:?}");
    };
    let red = |keys: &str, at: &str, message: &str, help: &str| {
        refused(&format!("kind = 'red', limit = 9, {keys}"), at, message, help);
    };
    let whole = "{ kind = 'red', limit = 9, min = 5 }";
    red("min = 5", whole, "`max` is missing", "min = 50, max = 150");
    let whole = "{ kind = 'choke', limit = 9 }";
    refused("kind = 'choke', limit = 9", whole, "`min` is missing", "min = 50, max = 150");
    red("min = 5, max = 5", "5", "`max` is not above `min`", "three times");
    red("min = 5, max = '5kB'", "'5kB'", "`min` and `max` are not measured alike", "both");
    red("min = 5, max = 9, weight = 1", "1", "`weight` is 1", "at most 0.999999");
    red("min = 5, max = 9, max-p = 0", "0", "`max-p` is 0", "at least 0.000001");
    red("min = 5, max = 9, max-p = -1.5", "-1.5", "`max-p` is -1.5", "at most 1");
    let long = "1073741824";
    red(&format!("min = 5, max = {long}"), long, "`max` is too long: 1073741824", "1073741823");
    let message = "`target` does not belong to `kind = \"red\"`";
    red("min = 5, max = 9, target = '5ms'", "'5ms'", message, "it belongs to `codel`, `pie`");
    let message = "`candidates` does not belong to `kind = \"red\"`";
    red("min = 5, max = 9, candidates = 2", "2", message, "`choke`");
    let message = "`ecn` does not belong to `kind = \"droptail\"`";
    refused(
        "kind = 'droptail', limit = 9, ecn = true",
        "true",
        message,
        "`red`, `choke`, `codel`, `pie`",
    );
    let zero = "`candidates` is zero: it must be more";
    refused("kind = 'choke', limit = 9, min = 5, max = 9, candidates = 0", "0", zero, "");
    let many = "`candidates` is 1001";
    refused("kind = 'choke', limit = 9, min = 5, max = 9, candidates = 1001", "1001", many, "1000");
    let zero = "`interval` is zero: it must be more";
    refused("kind = 'codel', limit = 9, interval = '0s'", "'0s'", zero, "");
    let zero = "`update` is zero: it must be more";
    refused("kind = 'pie', limit = 9, update = '0s'", "'0s'", zero, "");
    refused("kind = 'pie', limit = 9, beta = -1", "-1", "`beta` is -1", "it is 0 to 1000");
    refused("kind = 'pie', limit = 9, alpha = 1001", "1001", "`alpha` is 1001", "it is 0 to 1000");
    let message = "`mark` is not below `limit`: what would be marked is dropped";
    refused("kind = 'droptail', limit = 9, mark = 9", "9", message, "a smaller `mark`");
    let message = "`mark` and `limit` are not measured alike";
    refused("kind = 'droptail', limit = 9, mark = '9b'", "'9b'", message, "both in packets");
    let zero = "`mark` is zero: it must be more";
    refused("kind = 'droptail', limit = 9, mark = 0", "0", zero, "");
    let message = "`mark` does not belong to `kind = \"codel\"`";
    refused("kind = 'codel', limit = 9, mark = 3", "3", message, "it belongs to `droptail`");
    refused("kind = 'codel', limit = 0", "0", "`limit` is zero: it must be more", "");
}

#[test]
fn edf_drops_what_is_late_if_it_is_told_to() {
    let late = |scheduler: &str| match parse(&plan(scheduler, "")).unwrap().scheduler {
        SchedulerSpec::Edf(edf) => edf.late,
        other => panic!("{other:?}"),
    };
    assert_eq!(late(""), Late::Send);
    assert_eq!(late("late = 'send'"), Late::Send);
    assert_eq!(late("late = 'drop'"), Late::Drop);
    let text = plan("late = 'drop'", "").replace("'edf'", "'wfq'");
    let error = parse(&text).unwrap_err();
    assert_eq!(error.message(), "`late` does not belong to `kind = \"wfq\"`");
}
