//! The longest delays that are found, as they are printed, kept and run again.

use serde_json::Value;

use crate::bad_input::refused;
use crate::folder::Folder;

/// Two links in a row; two classes share each of them.
const TANDEM: &str = r#"version = 1
[link]
rate = "10mbit"
delay = "1ms"
max-packet = "1000b"
min-packet = "1000b"

[scheduler]
kind = "fifo"

[class.through]
arrival = { bucket = "4000b", rate = "4mbit", packet = "1000b" }

[class.first]
arrival = { bucket = "4000b", rate = "4mbit", packet = "1000b" }

[class.second]
arrival = { bucket = "4000b", rate = "4mbit", packet = "1000b" }

[network.l1]
between = ["a", "b"]

[network.l2]
between = ["b", "c"]

[[source]]
class = "through"
model = "constant"
rate = "1mbit"
packet = "1000b"
path = ["a", "b", "c"]

[[source]]
class = "first"
model = "constant"
rate = "1mbit"
packet = "1000b"
count = 2
path = ["a", "b"]

[[source]]
class = "second"
model = "constant"
rate = "1mbit"
packet = "1000b"
path = ["b", "c"]
"#;

/// One link under EDF.
const LINK: &str = r#"version = 1
[link]
rate = "10mbit"
max-packet = "1500b"

[scheduler]
kind = "edf"

[class.voice]
deadline = "5ms"
arrival = { bucket = "600b", rate = "400kbit", packet = "200b" }

[class.video]
deadline = "10ms"
arrival = { bucket = "6000b", rate = "4mbit", packet = "1500b" }

[class.web]
"#;

/// What is printed as JSON.
fn searched(folder: &Folder, more: &[&str]) -> Vec<Value> {
    let check = ["check", "plan.toml", "--json", "--worst-case", "--packets", "300000"];
    let answer = folder.laxity(&[&check[..], more].concat()).json(0);
    answer["worst_case"].as_array().expect("a list of classes").clone()
}

#[test]
fn what_is_found_over_a_network_happens_when_it_is_run() {
    for seed in ["1", "2", "3"] {
        let folder = Folder::with_plan(TANDEM);
        let found = searched(&folder, &["--out", "out", "--seed", seed]);
        assert_eq!(found.len(), 3);
        for case in &found {
            let (name, delay) = (case["class"].as_str().unwrap(), &case["found_ns"]);
            assert!(delay.as_u64().unwrap() <= case["bound_ns"].as_u64().unwrap(), "{case}");
            let csv = format!("out/{name}.csv");
            let run = ["run", "plan.toml", "--json", "--arrivals", &csv];
            let summary = folder.laxity(&run).json(0);
            let classes = summary["classes"].as_array().unwrap();
            let class = classes.iter().find(|class| class["name"] == name).unwrap();
            assert_eq!(&class["delay_ns"]["max"], delay, "{name}");
        }
        // Two bursts that meet take as long as is proved where they do, but for the nanosecond by
        // which one is earlier.
        let first = &found[1];
        let [reached, bound] = ["found_ns", "bound_ns"].map(|key| first[key].as_u64().unwrap());
        assert!(first["class"] == "first" && reached + 1 >= bound, "{first}");
        let page = folder.text("out/report.html");
        assert!(page.contains("Who sends when") && page.contains("a → b → c"));
    }
}

#[test]
fn what_is_found_on_a_link_happens_when_it_is_run() {
    let folder = Folder::with_plan(LINK);
    let found = searched(&folder, &["--out", "out"]);
    let names: Vec<_> = found.iter().map(|case| case["class"].as_str().unwrap()).collect();
    assert_eq!(names, ["voice", "video"]);
    for (case, name) in found.iter().zip(names) {
        let csv = format!("out/{name}.csv");
        let run = ["run", "plan.toml", "--json", "--arrivals", &csv];
        let summary = folder.laxity(&run).json(0);
        let classes = summary["classes"].as_array().unwrap();
        let class = classes.iter().find(|class| class["name"] == name).unwrap();
        assert_eq!(class["delay_ns"]["max"], case["found_ns"], "{name}");
        assert_eq!(class["nonconforming"], 0);
    }
}

#[test]
fn the_same_effort_finds_the_same() {
    let folder = Folder::with_plan(TANDEM);
    assert_eq!(searched(&folder, &[]), searched(&folder, &[]));
    let check = ["check", "plan.toml", "--worst-case", "--packets", "300000"];
    let text = folder.laxity(&check).printed(0);
    for wanted in ["at most", "happens", "of the bound", "a → b → c"] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

#[test]
fn what_cannot_be_searched_is_said() {
    let folder = Folder::with_plan(LINK);
    refused(&folder, &["check", "plan.toml", "--packets", "5000"], &["--worst-case"]);
    refused(&folder, &["check", "plan.toml", "--out", "out"], &["--worst-case"]);
    let plan = LINK.replace("kind = \"edf\"", "kind = \"fifo\"");
    let folder = Folder::with_plan(&plan);
    refused(&folder, &["check", "plan.toml", "--worst-case"], &["no delay is proved of any class"]);
    let folder = Folder::with_plan(TANDEM).with("through.csv", TANDEM);
    let check = ["check", "through.csv", "--worst-case", "--packets", "1000", "--out", "."];
    refused(&folder, &check, &["through.csv is read by this command"]);
}

#[test]
fn recordings_of_a_networks_sources_are_checked_line_by_line() {
    let line = |text: &str, says: &[&str]| {
        let text = format!("time_ns,source,class,length,flow\n5,2,first,1000,1\n{text}\n");
        let folder = Folder::with_plan(TANDEM).with("in.csv", text);
        let run = ["run", "plan.toml", "--out", "out", "--arrivals", "in.csv"];
        refused(&folder, &run, &[&["in.csv:3"], says].concat());
    };
    line("6,0,first,1000,0", &["there is no source 0", "3 [[source]] tables are numbered from 1"]);
    line("6,4,first,1000,0", &["there is no source 4"]);
    line("6,x,first,1000,0", &["`x` is not a source"]);
    line("6,1,first,1000,0", &["source 1 sends packets of class `through`, not of `first`"]);
    line("6,2,first,1000,2", &["source 2 has no flow 2", "from 0 to 1"]);
    line("4,2,first,1000,0", &["time_ns 4 is before 5"]);
    let folder = Folder::with_plan(TANDEM).with("in.csv", "time_ns,class,length\n");
    let run = ["run", "plan.toml", "--arrivals", "in.csv"];
    refused(&folder, &run, &["no column `source`", "the number of the [[source]] whose path"]);
    let folder = Folder::with_plan(LINK).with("in.csv", "time_ns,source,class,length\n");
    refused(&folder, &run, &["column `source` is unknown"]);
}

#[test]
fn a_recording_of_a_networks_sources_comes_over_standard_input() {
    let folder = Folder::with_plan(TANDEM);
    let csv = "time_ns,source,class,length\n5,1,through,1000\n6,3,second,1000\n7,2,first,1000\n";
    let run = ["run", "plan.toml", "--json", "--arrivals", "-"];
    let summary = folder.laxity_reads(&run, csv.as_bytes()).json(0);
    let sent: Vec<_> =
        summary["classes"].as_array().unwrap().iter().map(|of| &of["sent"]).collect();
    assert_eq!(sent, [&Value::from(1), &Value::from(1), &Value::from(1)]);
}
