use std::time::Instant;

use proptest::prelude::*;

use super::*;

/// Two sites with circuits.
const PLAN: &str = r#"version = 1
link = { rate = "100mbit" }
scheduler.kind = "hfsc" # of all
[class.north]
weight = 2
[class."the south"]
curve = "40mbit"
[class.c1] # Ann
parent = "north"
scheduler = { kind = "fq-codel" }
match = "daddr 10.0.0.1"
[class.c2]
parent = "the south"
match = "daddr 10.0.0.2"

  [class.c3]
parent = "north"
queue = { kind = "codel", limit = 100 }
match = "daddr 10.0.0.3"
[class.c4]
parent = "the south"
curve = "1mbit"
match = "daddr 10.0.0.4"
[class.rest]
weight = 0.5
"#;

fn parse(text: &str) -> Result<Plan, PlanError> {
    Plan::parse(text, "", Path::new(""))
}

fn changed(before: &str, after: &str) -> Option<Plan> {
    let reading = Reading { text: before.into(), plan: parse(before).unwrap() };
    reading.changed_to(after)
}

#[test]
fn a_plan_with_another_class_is_read_in_part() {
    let changes = [
        ("weight = 0.5\n", "weight = 0.25\n"),
        ("weight = 0.5\n", "weight = 0.5\n[class.more]\nparent = \"north\"\n"),
        ("weight = 0.5\n", "weight = 0.5"),
        ("10.0.0.1", "10.1.0.1"),
        ("[class.c2]\nparent = \"the south\"\n", "[class.c2]\nparent = \"north\"\n"),
        ("[class.c2]\n", "[class.'c 2']\n"),
        ("[class.c3]\n", "[class.c30]\nparent = \"c31\"\n[class.c31]\n[class.c3]\n"),
        ("[class.c1] # Ann\nparent = \"north\"\n", "[class.c0]\nparent = \"north\"\n[class.c1]\n"),
        ("[class.rest]\nweight = 0.5\n", ""),
        ("[class.c4]\n", "[class.c4]\n# nothing else\n"),
    ];
    for (from, to) in changes {
        let after = PLAN.replacen(from, to, 1);
        assert_ne!(after, PLAN);
        assert_eq!(changed(PLAN, &after), Some(parse(&after).unwrap()), "{to}");
    }
    assert_eq!(changed(PLAN, PLAN), Some(parse(PLAN).unwrap()));
}

#[test]
fn what_is_not_so_simple_is_read_whole() {
    let changes = [
        // Something that all classes depend on, or that others depend on.
        ("100mbit", "10mbit"),
        ("weight = 2\n", "weight = 3\n"),
        ("[class.rest]\n", "[class.north]\n"),
        ("[class.rest]\n", "[class.rest]\nparent = \"c1\"\n"),
        ("[class.rest]\n", "[class.rest]\nparent = \"c9\"\n"),
        ("weight = 0.5\n", "weight = 0.5\n[run]\nduration = \"1s\"\n"),
        ("weight = 0.5\n", "weight = 0.5\n[class.c4.real-time]\nrate = \"1mbit\"\n"),
        ("weight = 0.5\n", "weight = \"much\"\n"),
    ];
    for (from, to) in changes {
        let after = PLAN.replacen(from, to, 1);
        assert_ne!(after, PLAN);
        assert_eq!(changed(PLAN, &after), None, "{to}");
    }
    let long =
        PLAN.replacen("version = 1\n", "version = 1\ntitle = \"\"\"\n[class.north]\n\"\"\"\n", 1);
    assert_eq!(changed(&long, &long.replace("0.5", "0.25")), None);
}

#[test]
fn a_reader_reads_what_a_file_says_now() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.toml");
    let mut reader = PlanReader::new(path.clone());
    assert!(reader.read().is_err());
    let other = PLAN.replace("0.5", "0.25");
    for text in [PLAN, &other, "version = 2", &other, PLAN] {
        std::fs::write(&path, text).unwrap();
        let (read, whole) = (reader.read(), Plan::read(&path));
        assert_eq!(read.map(|(plan, _)| plan), whole, "{text}");
    }
}

#[test]
fn one_of_many_classes_is_read_in_a_fraction_of_the_time() {
    let circuit = |number: usize| {
        format!(
            "[class.circuit-{number}]\nparent = \"north\"\nmatch = \"daddr 10.1.{}.{}\"\n",
            number / 250,
            number % 250
        )
    };
    let before = PLAN.to_string() + &(0..2_000).map(circuit).collect::<String>();
    let after = before.replace("daddr 10.1.4.1\"", "daddr 10.2.4.1\"");
    let reading = Reading { plan: parse(&before).unwrap(), text: before };
    let least = |read: &dyn Fn() -> Plan| {
        let time = |_| {
            let begun = Instant::now();
            read();
            begun.elapsed()
        };
        (0..3).map(time).min().unwrap()
    };
    let whole = least(&|| parse(&after).unwrap());
    let part = least(&|| reading.changed_to(&after).expect("one has changed"));
    assert!(3 * part < whole, "{part:?} in part, {whole:?} whole");
}

/// Lines that a plan may have.
fn any_line() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec![
        "weight = 3",
        "parent = \"north\"",
        "parent = \"c1\"",
        "parent = \"rest\"",
        "curve = \"2mbit\"",
        "match = \"daddr 10.0.0.9\"",
        "scheduler = { kind = \"fq-codel\" }",
        "count = 4",
        "[run]",
        "[[source]]",
        "title = '''",
        "x = [",
        "[class.c1]",
        "[class.c1.curve]",
        "[class.c7]",
        "[class.\"c8\"]",
        "  [class.c9] # nine",
        "#",
        "",
    ]);
    key.prop_map(str::to_string)
}

#[derive(Clone, Debug)]
enum Edit {
    Insert(usize, Vec<String>),
    Remove(usize, usize),
    /// A piece of text in place of another.
    Splice(usize, usize, String),
}

fn any_edit() -> impl Strategy<Value = Edit> {
    let lines = prop::collection::vec(any_line(), 1..5);
    prop_oneof![
        3 => (0..40usize, lines).prop_map(|(at, lines)| Edit::Insert(at, lines)),
        2 => (0..40usize, 1..6usize).prop_map(|(at, count)| Edit::Remove(at, count)),
        1 => (0..PLAN.len(), 0..8usize, "[\\[\\]a-d0-9\n=\"]{0,4}")
            .prop_map(|(at, length, text)| Edit::Splice(at, length, text)),
    ]
}

impl Edit {
    fn apply(&self, text: &str) -> String {
        let mut lines: Vec<String> = text.split('\n').map(str::to_string).collect();
        match self {
            Edit::Insert(at, more) => {
                let at = (*at).min(lines.len());
                lines.splice(at..at, more.iter().cloned());
            }
            Edit::Remove(at, count) => {
                let at = (*at).min(lines.len());
                lines.drain(at..(at + count).min(lines.len()));
            }
            Edit::Splice(at, length, more) => {
                let at = (*at).min(text.len());
                let end = (at + length).min(text.len());
                return format!("{}{more}{}", &text[..at], &text[end..]);
            }
        }
        lines.join("\n")
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    /// Edits follow each other; what is read in part is the base of what is read next.
    #[test]
    fn what_is_read_in_part_is_what_is_read_whole(
        kind in prop::sample::select(vec!["hfsc", "wf2q", "drr"]),
        edits in prop::collection::vec(any_edit(), 1..6),
    ) {
        let mut before = PLAN.replacen("hfsc", kind, 1).replace("curve = \"1mbit\"\n", "");
        if kind != "hfsc" {
            before = before.replace("curve = \"40mbit\"", "weight = 4");
        }
        let mut last = Reading { plan: parse(&before).unwrap(), text: before };
        for edit in edits {
            let text = edit.apply(&last.text);
            let (part, whole) = (last.changed_to(&text), parse(&text));
            if let Some(part) = part {
                prop_assert_eq!(Ok(&part), whole.as_ref(), "{}", text);
            }
            if let Ok(plan) = whole {
                last = Reading { text, plan };
            }
        }
    }
}
