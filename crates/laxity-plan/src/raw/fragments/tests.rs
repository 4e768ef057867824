use std::path::Path;

use super::*;
use crate::Plan;

const HEAD: &str = r#"
version = 1
[link]
rate = "10mbit"
[scheduler]
kind = "fifo"
[class.bulk]
arrival = [
    { bucket = "3kB", rate = "1kbit" },
    { bucket = "2kB", rate = "1mbit" },
]
[network.a]
between = ["x", "y"]
[network.b]
between = ["y", "z"]
"#;

/// `count` sources of different kinds, written in different ways.
fn many(count: usize) -> String {
    let source = |number: usize| match number % 4 {
        0 => {
            "[[source]] # one\nclass = 'bulk'\nmodel = \"tcp\"\npacket = \"1500b\"\npath = [\n  \"x\",\n\"y\",\n]\n"
        }
        1 => {
            "  [[ source ]]\nclass = \"bulk\"\nmodel = \"poisson\"\nrate = \"1kbit\"\npacket = \"500b\"\npath = \"shortest\"\nfrom = \"x\"\nto = \"z\"\n"
        }
        2 => {
            "[[source]]\nclass = \"bulk\"\nmodel = \"poisson\"\nrate = \"1kbit\"\npath = [\"x\", \"y\"]\n[source.packet]\nuniform = [\"100b\", \"200b\"]\n"
        }
        _ => {
            "[[source]]\nclass = \"\"\"bulk\"\"\"\nmodel = \"tcp\"\npacket = \"1000b\"\npath = [\"z\", \"y\"]\n\n"
        }
    };
    HEAD.to_string() + &(0..count).map(source).collect::<String>()
}

fn parse(text: &str) -> Result<Plan, crate::PlanError> {
    Plan::parse(text, "plan.toml", Path::new(""))
}

#[test]
fn many_sources_are_those_that_few_are() {
    let cut = many(2_000) + "[run]\nduration = \"1s\"\n";
    let pieces = Fragments::cut(&cut).unwrap();
    assert_eq!(pieces.sources.len(), 2_000);
    assert!(pieces.rest.ends_with("[run]\nduration = \"1s\"\n"));
    let (many, few) = (parse(&cut).unwrap(), parse(&many(8)).unwrap());
    assert_eq!(few.sources.len(), 8);
    assert_eq!(many.run.duration, Some(laxity::units::Nanos(1_000_000_000)));
    for sources in many.sources.chunks(8) {
        assert_eq!(sources, few.sources);
    }
}

#[test]
fn what_is_written_in_another_way_is_read_whole() {
    let few = many(40);
    assert!(Fragments::cut(&few).is_none(), "few sources");
    for (more, why) in [
        (
            "[class.other]\n[source.spacing]\nuniform = [\"1ms\", \"2ms\"]\n",
            "a source goes on elsewhere",
        ),
        ("[\"class\".other]\n", "a name that may be any"),
    ] {
        assert!(Fragments::cut(&(many(2_000) + more)).is_none(), "{why}");
    }
    let listed = format!("source = []\n{}", many(2_000));
    assert!(parse(&listed).is_err(), "sources in a list and in tables");
}

/// Errors are those of the plan as a whole, with their places.
#[test]
fn errors_say_where() {
    let lines = |text: &str| text.lines().count();
    for (bad, message) in [
        ("[[source]]\nclass = \"bulk\"\nmodel = \"tcp\"\nrat = 3\n", "unknown key `rat`"),
        (
            "[[source]]\nclass = \"bulk\"\nmodel = \"tcp\"\nrate = \"1kbit\"\n",
            "`rate` does not belong to `model = \"tcp\"`",
        ),
        (
            "[[source]]\nclass = \"bulk\"\nmodel = \"tcp\"\nclass = \"bulk\"\n",
            "`class` is written twice",
        ),
    ] {
        let before = many(1_500);
        let error = parse(&(before.clone() + bad + &many(1_500)[HEAD.len()..])).unwrap_err();
        assert_eq!(error.message(), message);
        assert_eq!(error.line(), Some(lines(&before) + 4), "{message}");
    }
}
