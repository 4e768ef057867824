//! One refusal after another: where it points, what it says, and what it says is accepted.

use super::*;
use crate::discipline::Kind;
use crate::error::quoted_list;

/// Refuses the plan with `old` written as `new`, pointing at `at`, saying `message` and then
/// something about `help` (nothing if that is empty).
#[track_caller]
fn refused(old: &str, new: &str, at: &str, message: &str, help: &str) {
    let error = with(old, new).expect_err("this plan is wrong");
    assert_eq!(error.message(), message);
    assert_eq!(&error.text()[error.span().unwrap_or(0..0)], at, "{error}");
    match (error.help(), help) {
        (None, "") => {}
        (Some(given), help) => assert!(!help.is_empty() && given.contains(help), "{given}"),
        (None, help) => panic!("no help about {help}"),
    }
}

#[track_caller]
fn refused_whole(text: &str, display: &str) {
    assert_eq!(parse(text).expect_err("this plan is wrong").to_string(), display);
}

#[test]
fn a_plan_without_its_parts() {
    refused_whole("", "plan.toml: the plan is empty");
    refused_whole(" # nothing\n", "plan.toml: the plan is empty");
    refused_whole("title = 'x'", "plan.toml:1:1: `version` is missing");
    refused_whole("version = 1", "plan.toml:1:1: `link` is missing");
    let head = "version = 1\nlink.rate = '1mbit'\n";
    refused_whole(head, "plan.toml:1:1: `scheduler` is missing");
    let head = format!("{head}scheduler.kind = 'wfq'\n");
    refused_whole(&head, "plan.toml: the plan has no classes");
    refused_whole(&format!("{head}[class]"), "plan.toml: the plan has no classes");
    refused_whole(
        &format!("{head}[class.a]\n[source]"),
        "plan.toml:5:1: expected tables `[[source]]` with two brackets, found a table",
    );
}

#[test]
fn the_place_is_counted_in_characters() {
    let error = with("title = \"Access", "title = \"Ä\"; \"Access").unwrap_err();
    assert_eq!(error.line_column(), Some((2, 12)));
    assert_eq!((error.line(), error.column()), (Some(2), Some(12)));
    assert_eq!(error.to_string(), format!("plan.toml:2:12: {}", error.message()));
    assert_eq!(error.name(), "plan.toml");
}

#[test]
fn overheads_that_are_none() {
    let wrong = |value: &str, message: &str| {
        let new = format!("[link]\noverhead = {value}");
        refused("[link]", &new, value, message, "");
    };
    wrong("'1001b'", "`1001b` is no overhead: -64b to 1000b are accepted");
    wrong("'-65b'", "`-65b` is no overhead: -64b to 1000b are accepted");
    let names = "ethernet, docsis, pppoe-ptm, bridged-ptm, ipoa-vcmux, ipoa-llcsnap, pppoa-vcmux, \
                 pppoa-llc, pppoe-vcmux, pppoe-llcsnap, bridged-vcmux, bridged-llcsnap";
    wrong("'adsl'", &format!("`adsl` is no kind of link: accepted are {names}"));
    wrong("{ at-least = '-1b' }", "`at-least` is negative: a length is not");
}

#[test]
fn another_version() {
    let message = "`version` is not 1, the only version of plans there is";
    refused("version = 1", "version = 2\nnew = 1", "2", message, "version = 1");
    refused("version = 1", "version = \"1\"", "\"1\"", message, "version = 1");
}

#[test]
fn not_toml() {
    refused(
        "version = 1",
        "version == 1",
        "=",
        "this is not TOML: extra `=`, expected nothing",
        "",
    );
    refused("[link]", "[link", "", "this is not TOML: unclosed table, expected `]`", "");
}

#[test]
fn a_table_or_key_twice() {
    refused(
        "[class.ftp]",
        "[class.voice]",
        "voice",
        "`voice` is written twice",
        "every name of a class",
    );
    refused("seed = 7", "seed = 7\nseed = 8", "seed", "`seed` is written twice", "every key");
    let one = "this table is written with one pair of brackets";
    let found = "expected a table of keys and values, found an array";
    refused("[link]", "[[link]]", "[[link]]", found, one);
    refused("[class.ftp]", "[[class.ftp]]", "[[class.ftp]]", found, one);
}

#[test]
fn an_unknown_key() {
    refused(
        "title",
        "titel",
        "titel",
        "unknown key `titel`",
        "did you mean `title`? Accepted: `version`, `title`",
    );
    refused("rate =", "rat =", "rat", "unknown key `rat`", "did you mean `rate`?");
    refused(
        "seed =",
        "colour =",
        "colour",
        "unknown key `colour`",
        "accepted: `duration`, `warm-up`, `seed`",
    );
    refused("bucket =", "buckets =", "buckets", "unknown key `buckets`", "did you mean `bucket`?");
    refused("title", "a.b.c = 1\ntitle", "a", "unknown key `a`", "accepted");
}

#[test]
fn a_missing_key() {
    refused("rate = \"10mbit\"", "", "[link]", "`rate` is missing", "rate = \"10mbit\"");
    let rest = "{ rate = \"150kB/s\", packet = \"100b\", peak = \"250kB/s\" }";
    refused("bucket = \"300b\", ", "", rest, "`bucket` is missing", "bucket = \"300b\"");
    refused("kind = \"droptail\", ", "", "{ limit = \"64kB\" }", "`kind` is missing", "`droptail`");
    refused(
        ", limit = \"64kB\"",
        "",
        "{ kind = \"droptail\" }",
        "`limit` is missing",
        "limit = 100",
    );
    refused("class = \"voice\"", "", "[[source]]", "`class` is missing", "class = \"voice\"");
    refused("model = \"greedy\"", "", "[[source]]", "`model` is missing", "`greedy`, `constant`");
    refused("packet = \"100b\"  ", "", "[[source]]", "`packet` is missing", "packet = \"100b\"");
    refused("burst = ", "#", "[[source]]", "`burst` is missing", "burst = { uniform");
    refused("file = \"traffic.pcap\"", "", "[[source]]", "`file` is missing", "traffic.pcap");
}

#[test]
fn a_wrong_quantity() {
    let rate = |new: &str, message: &str| refused("\"10mbit\"", new, new, message, "");
    let no_unit = "`10` has no unit: write a rate such as `10mbit` or `1.25MB/s`";
    rate("\"10\"", no_unit);
    rate("10", no_unit);
    rate("-10.5", "`-10.5` is negative: a rate is not");
    rate("\"-10mbit\"", "`-10mbit` is negative: a rate is not");
    rate("\"0mbit\"", "`0mbit` is zero: a rate must be more than that");
    rate("\"99999999gbit\"", "`99999999gbit` is too large: the largest rate is 10000gbit");
    rate("1e999", "this number is too large");
    rate("99999999999999999999999999999999999999999", "this number is too large");
    let kinds = "a rate such as \"10mbit\" or \"1.25MB/s\", or a table such as \
                 { from = \"5mbit\", to = \"40mbit\" }";
    let expected = |found: &str| format!("expected {kinds}, found {found}");
    rate("true", &expected("boolean `true`"));
    rate("[]", &expected("an array"));
    refused("\"10mbit\"", "{}", "{}", "`from` is missing", "must be written");
    rate("2020-01-01", "a date is not accepted here");
    rate(
        &format!("\"{}mbit\"", "1".repeat(99)),
        "this text is too long for a rate such as \"10mbit\" or \"1.25MB/s\"",
    );

    for bad in ["nan", "inf", "\"fast\""] {
        let error = with("\"10mbit\"", bad).unwrap_err();
        assert!(error.message().contains("is not a rate"), "{error}");
    }
    let error = with("\"10mbit\"", "\"10Mbps\"").unwrap_err();
    assert!(error.message().contains("tc reads `bps` as bytes a second"), "{error}");
}

#[test]
fn zero_where_it_makes_no_sense() {
    let zero = |key: &str, old: &str, new: &str, at: &str| {
        refused(old, new, at, &format!("`{key}` is zero: it must be more"), "");
    };
    zero("max-packet", "\"1536b\"", "\"0b\"", "\"0b\"");
    zero("deadline", "\"5ms\"", "\"0ms\"", "\"0ms\"");
    zero("bucket", "\"300b\"", "\"0b\"", "\"0b\"");
    zero("packet", "\"100b\", peak", "\"0b\", peak", "\"0b\"");
    zero("packet", "\"100b\"  ", "\"0b\"  ", "\"0b\"");
    zero("limit", "\"64kB\"", "\"0b\"", "\"0b\"");
    zero("limit", "\"64kB\"", "0", "0");
    zero("duration", "\"20s\"", "\"0s\"", "\"0s\"");
    zero("count", "count = 20", "count = 0", "0");
    zero("window", "window = 4", "window = 0", "0");
    zero("burst", "{ uniform = [\"2ms\", \"4ms\"] }", "\"0ms\"", "\"0ms\"");
}

#[test]
fn a_wrong_word() {
    let words = Kind::ALL.iter().map(|kind| kind.word());
    refused(
        "\"edf\"",
        "\"edff\"",
        "\"edff\"",
        "unknown word `edff`",
        &format!("did you mean `edf`? Accepted: {}", quoted_list(words)),
    );
    refused("\"edf\"", "4", "4", "expected a word in quotes, found integer `4`", "");
    refused("\"exact\"", "\"exat\"", "\"exat\"", "unknown word `exat`", "did you mean `exact`?");
    refused("\"demote\"", "\"red\"", "\"red\"", "unknown word `red`", "`count`, `demote`, `drop`");
    refused(
        "\"greedy\"",
        "\"gredy\"",
        "\"gredy\"",
        "unknown word `gredy`",
        "did you mean `greedy`?",
    );
}

#[test]
fn a_key_that_does_not_belong() {
    let help = "write `kind = \"edf\"`";
    refused(
        "\"edf\"",
        "\"fifo\"",
        "\"exact\"",
        "`best-effort` does not belong to `kind = \"fifo\"`",
        help,
    );
    refused(
        "\"edf\"\nbest-effort = \"exact\"",
        "\"wfq\"",
        "\"wfq\"",
        "`best-effort-order` does not belong to `kind = \"wfq\"`",
        help,
    );
    let burst = "{ uniform = [\"2ms\", \"4ms\"] }";
    refused(
        "\"greedy\"",
        "\"poisson\"",
        burst,
        "`burst` does not belong to `model = \"poisson\"`",
        "start, stagger, stop, path, from, to, laps, rate",
    );
    refused(
        "file = \"/",
        "class = \"ftp\"\nfile = \"/",
        "\"ftp\"",
        "`class` does not belong to `model = \"csv\"`",
        "file",
    );
    refused(
        "file = \"/",
        "match = \"udp\"\nfile = \"/",
        "\"udp\"",
        "`match` does not belong to `model = \"csv\"`",
        "file",
    );
}

#[test]
fn a_link_that_contradicts_itself() {
    let small = "`max-packet` is 30b, below `min-packet`, 64b";
    refused("\"1536b\"", "\"30b\"\nmin-packet = \"64b\"", "\"30b\"", small, "");
    refused("\"1536b\"", "\"2GB\"", "\"2GB\"", "`max-packet` is 2GB, above the largest, 1GB", "");
}

#[test]
fn a_promise_that_cannot_be_kept() {
    let message =
        "`deadline` is 50us, but the class's largest packet (100b) alone takes 80us on the link";
    refused("\"5ms\"", "\"50us\"", "\"50us\"", message, "at least that time");
    let message = "`deadline` without `arrival`: a promise needs the traffic that it holds for";
    refused("arrival =", "#", "\"5ms\"", message, "add `arrival");
    let message = "`police` without `arrival`: there is no contract to break";
    refused("weight = 0.5", "police = \"drop\"", "\"drop\"", message, "leave `police` out");
}

#[test]
fn an_arrival_curve_that_contradicts_itself() {
    refused(
        "\"100b\", peak",
        "\"2kB\", peak",
        "\"2kB\"",
        "`packet` is 2kB, above the link's `max-packet`, 1.536kB",
        "",
    );
    refused(
        "\"100b\", peak",
        "\"20b\", peak",
        "\"20b\"",
        "`packet` is 20b, below the link's `min-packet`, 40b",
        "min-packet",
    );
    refused(
        "\"300b\"",
        "\"99b\"",
        "\"99b\"",
        "`bucket` is 99b, too small for one packet of 100b",
        "largest packet",
    );
    refused(
        "\"250kB/s\"",
        "\"1mbit\"",
        "\"1mbit\"",
        "`peak` is 1mbit, below `rate`, 1.2mbit",
        "at least the sustained",
    );
    let message = "`peak` without a largest `packet`: a peak rate holds for packets of some size";
    refused("packet = \"100b\", ", "", "\"250kB/s\"", message, "packet = ");
    let least = "packet = { at-least = '64b' }, ";
    refused("packet = \"100b\", ", least, "\"250kB/s\"", message, "packet = ");
    let list = "[{ bucket = \"30kB\", rate = \"1mbit\" }, { bucket = \"3kB\", rate = \"2mbit\" }]";
    refused(list, "[]", "[]", "`arrival` has 0 token buckets", "1 to 64");
    refused(list, "[5]", "5", "expected a table of keys and values, found integer `5`", "");
    let message = "expected { bucket = \"300b\", rate = \"150kB/s\" } or a list of such tables, found string \"3kB\"";
    refused(list, "\"3kB\"", "\"3kB\"", message, "");
}

#[test]
fn a_wrong_weight() {
    let weight = |new: &str, message: &str| {
        refused("0.5", new, new, message, "more than 0 and at most 4000")
    };
    weight("0", "`weight` is zero");
    weight("-1", "`weight` is negative: -1");
    weight("4000.1", "`weight` is too large: 4000.1");
    weight("0.0000001", "`weight` is 0.0000001, less than a millionth");
    refused("0.5", "nan", "nan", "`NaN` is not a finite number: write one such as 0.5", "");
    refused("0.5", "-inf", "-inf", "`-inf` is not a finite number: write one such as 0.5", "");
    refused(
        "0.5",
        "\"1\"",
        "\"1\"",
        "expected a number such as 0.5, without quotes, found string \"1\"",
        "",
    );
}

#[test]
fn a_wrong_count() {
    let count = |new: &str, message: &str| {
        refused("count = 20", &format!("count = {new}"), new, message, "")
    };
    count("-1", "`-1` is negative: write a whole number from 0");
    count("2.5", "expected a whole number such as 100, without quotes, found floating point `2.5`");
    count("1000001", "too many sources: all `count`s together are at most 1000000");
    count(
        "99999999999999999999",
        "expected a whole number such as 100, without quotes, found integer `99999999999999999999`",
    );
    refused(
        "window = 4",
        "window = 4000000",
        "4000000",
        "`window` is 4000000, above the largest, 1000000",
        "",
    );
    refused("\"64kB\"", "-4", "-4", "`-4` is negative: a limit is not", "");
    refused("seed = 7", "seed = -7", "-7", "`-7` is negative: write a whole number from 0", "");
}

#[test]
fn a_class_that_is_not_there() {
    refused(
        "\"voice\"",
        "\"voic\"",
        "\"voic\"",
        "there is no class `voic`",
        "did you mean `voice`?",
    );
    refused(
        "\"voice\"",
        "\"x\"",
        "\"x\"",
        "there is no class `x`",
        "accepted: `voice`, `ftp`, `bulk`",
    );
    let message = "a greedy source follows the `arrival` of its class, and class `ftp` has none";
    refused("\"voice\"", "\"ftp\"", "\"ftp\"", message, "another model");
}

#[test]
fn a_wrong_name() {
    refused("class.ftp", "class.\"\"", "\"\"", "a class needs a name", "1 to 64 characters");
    let tab = "a control character in a class's name";
    refused("class.ftp", "class.\"f\\tp\"", "\"f\\tp\"", tab, "1 to 64 characters");
    let long = "x".repeat(65);
    let message = format!("the name `{}…` is too long", "x".repeat(64));
    refused("class.ftp", &format!("class.{long}"), &long, &message, "1 to 64 characters");
}

#[test]
fn lengths_that_no_packet_has() {
    let wrong = |new: &str, at: &str, message: &str, help: &str| {
        refused("packet = \"100b\", ", &format!("packet = {new}, "), at, message, help);
    };
    let between = "{ at-least = '99b', at-most = '64b' }";
    let message = "packets of at least 99b and at most 64b";
    wrong(between, between, message, "`at-least` is no more than `at-most`");
    wrong("{ at-least = '0b' }", "'0b'", "`at-least` is zero: it must be more", "");
    let short = "`at-least` is 39b, below the link's `min-packet`, 40b";
    wrong("{ at-least = '39b' }", "'39b'", short, "min-packet");
    let long = "`at-most` is 2kB, above the link's `max-packet`, 1.536kB";
    wrong("{ at-most = '2kB' }", "'2kB'", long, "");
    let message = "unknown key `at-last`";
    wrong("{ at-last = '64b' }", "at-last", message, "did you mean `at-least`?");
    let message = "`64` has no unit: write a size such as `1536b` or `30kB`";
    wrong("64", "64", message, "");
}

#[test]
fn packets_that_their_class_cannot_send() {
    let source = |new: &str, message: &str, help: &str| {
        refused("\"100b\"  ", &format!("{new} "), new, message, help);
    };
    let help = "`packet` in the class's `arrival`";
    source("\"200b\"", "`packet` is 200b, above 100b, the largest packet of class `voice`", help);
    source(
        "{ uniform = [\"200b\", \"300b\"] }",
        "`packet` is 200b, above 100b, the largest packet of class `voice`",
        help,
    );
    source("\"39b\"", "`packet` is 39b, below the link's `min-packet`, 40b", "min-packet");
    source("100", "`100` has no unit: write a size such as `1536b` or `30kB`", "");
}

#[test]
fn a_wrong_distribution() {
    let dist = |new: &str, at: &str, message: &str, help: &str| {
        refused("{ uniform = [\"2ms\", \"4ms\"] }", new, at, message, help);
    };
    let swapped = "{ uniform = [\"4ms\", \"2ms\"] }";
    let message = "`burst` is uniform from 4ms to 2ms, and the first is larger";
    dist(swapped, swapped, message, "{ uniform = [\"2ms\", \"4ms\"] }");
    dist("{ uniform = [\"2ms\"] }", "[\"2ms\"]", "too few values: write two in brackets", "");
    let three = "[\"2ms\", \"4ms\", \"6ms\"]";
    dist(&format!("{{ uniform = {three} }}"), three, "too many values: write two in brackets", "");
    dist(
        "{ uniform = \"2ms\" }",
        "\"2ms\"",
        "expected two values in brackets, found string \"2ms\"",
        "",
    );
    dist("{ unifrm = 1 }", "unifrm", "unknown word `unifrm`", "did you mean `uniform`?");
    dist(
        "{}",
        "{}",
        "this table is empty: write a distribution such as { uniform = [from, to] }",
        "",
    );
    let two = "{ exponential = \"2ms\", uniform = 0 }";
    dist(two, two, "two distributions in one place: write one of them", "");
    dist("2020-01-01", "2020-01-01", "a date is not accepted here", "");
    let flat = "{ pareto = [\"5ms\", 0] }";
    dist(flat, flat, "`burst` has the shape 0", "above 0 and at most 100");
    dist(
        "{ weibull = [\"5ms\", inf] }",
        "inf",
        "`inf` is not a finite number: write one such as 0.5",
        "",
    );
    let wide = "{ lognormal = [\"5ms\", -1] }";
    dist(wide, wide, "`burst` has the sigma -1", "from 0 to 100");
}

#[test]
fn pareto_periods_without_a_mean() {
    refused("on = \"300ms\"", "on = \"300ms\"\nshape = 1", "1", "`shape` is 1", "a number above 1");
    let law = "{ exponential = \"5ms\" }";
    let message = "`on` of `pareto-on-off` is a mean time, not a distribution";
    refused("on = \"300ms\"", &format!("on = {law}"), law, message, "on-off");
}

#[test]
fn times_in_the_wrong_order() {
    refused("stop = \"9s\"", "stop = \"1s\"", "\"1s\"", "`stop` is 1s, not after `start`, 1s", "");
    let message = "`warm-up` is 20s, which leaves nothing of `duration`, 20s";
    refused("warm-up = \"1s\"", "warm-up = \"20s\"", "\"20s\"", message, "shorter than the run");
}

#[test]
fn a_wrong_match() {
    let words = |new: &str, at: &str, message: &str, help: &str| {
        refused("udp dport 4000", new, at, message, help)
    };
    words("udp dprt 4000", "dprt", "`match`: `dprt` does not belong here", "and, or, the end");
    words("udp dport", "", "`match`: the expression ends too early", "a port 0-65535");
    words("udp dport 70000", "70000", "`match`: `70000` does not belong here", "a port 0-65535");
    words("", "", "`match`: the expression ends too early", "a test such as udp");
    words("\\u0020x", "\"\\u0020x\"", "`match`: `x` does not belong here", "a test such as udp");
    refused(
        "udp or tcp",
        "udp or",
        "",
        "`match`: the expression ends too early",
        "a test such as udp",
    );
}

#[test]
fn more_classes_than_there_may_be() {
    let classes: Vec<String> = (0..=1_000_000).map(|class| format!("{class:x}={{}}")).collect();
    let head = "version=1\nlink={rate='1gbit'}\nscheduler={kind='fifo'}\n";
    let message = "the plan has 1000001 classes, more than 1000000, the most there may be";
    let text = format!("{head}class={{{}}}", classes.join(","));
    assert_eq!(parse(&text).unwrap_err().message(), message);
    let text = format!("{head}class={{{}}}", classes[..1_000_000].join(","));
    assert_eq!(parse(&text).map(|plan| plan.classes.len()), Ok(1_000_000));
}

#[test]
fn an_empty_file_path() {
    refused("\"traffic.pcap\"", "\"\"", "\"\"", "`file` is empty: write a path", "");
}
