//! Networks, queue management and schedulers below shares, from plans to what is written.

use serde_json::Value;

use crate::bad_input::refused;
use crate::folder::{Folder, repository};

/// Two connections and a stream that does not answer over one slow link.
const NETWORK: &str = r#"version = 1
[link]
rate = "10mbit"
delay = "2ms"
max-packet = "1000b"

[scheduler]
kind = "fifo"
queue = { kind = "choke", min = 5, max = 15, limit = 40, weight = 0.02 }

[class.tcp]
deadline = "60ms"

[class.flood]

[network.access]
between = ["host", "router"]
private = true

[network.bottleneck]
between = ["router", "server"]
rate = "1mbit"

[[source]]
class = "tcp"
model = "tcp"
count = 2
packet = "1000b"
path = ["host", "router", "server"]

[[source]]
class = "flood"
model = "constant"
rate = "2mbit"
packet = "1000b"
path = ["host", "router", "server"]
"#;

#[test]
fn a_network_is_run_and_written() {
    let folder = Folder::with_plan(NETWORK);
    let run = ["run", "plan.toml", "--duration", "20s", "--out", "out"];
    let text = folder.laxity(&run).printed(0);
    for wanted in ["end to end", "router → server", "timeouts", "fairness"] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let summary = folder.json("out/summary.json");
    let named = |list: &Value, key: &str, name: &str| {
        let mut list = list.as_array().unwrap().iter();
        list.find(|one| one[key] == name).unwrap().clone()
    };
    let hop = named(&summary["hops"], "to", "server");
    assert!(hop["utilization"].as_f64().unwrap() > 0.95);
    let flood = named(&hop["classes"], "name", "flood");
    assert!(flood["dropped"]["choke"].as_u64().unwrap() > 1000, "{flood}");
    let packets = folder.text("out/packets.csv");
    assert!(packets.starts_with("link,from,to,class,flow,length,arrival_ns,deadline_ns,start_ns,"));
    let sent = packets.lines().filter(|line| line.ends_with(",sent")).count() as u64;
    assert_eq!(summary["hop_departures"].as_u64(), Some(sent));
    assert!(folder.text("out/report.html").contains("Hop by hop"));
    assert!(folder.text("out/manifest.json").contains("packets.csv"));
}

#[test]
fn the_same_seed_gives_the_same_network() {
    let folder = Folder::with_plan(NETWORK);
    let run = |seed: &str| {
        folder.laxity(&["run", "plan.toml", "--duration", "20s", "--seed", seed, "--json"]).json(0)
    };
    assert_eq!(run("3"), run("3"));
    assert_ne!(run("3")["hops"], run("4")["hops"]);
}

#[test]
fn networks_are_compared() {
    let folder = Folder::with_plan(NETWORK);
    let compare = ["compare", "plan.toml", "--schedulers", "fifo,edf,drr", "--duration", "10s"];
    let text = folder.laxity(&compare).printed(0);
    for wanted in ["fifo", "edf/exact", "drr", "goodput Mbit/s"] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

#[test]
fn what_a_network_cannot_do_is_said() {
    let folder = Folder::with_plan(NETWORK);
    refused(&folder, &["run", "plan.toml", "--arrivals", "x.csv"], &["x.csv"]);
    let astray =
        NETWORK.replacen("\"router\", \"server\"]\n\n[[source]]", "\"sever\"]\n\n[[source]]", 1);
    let folder = Folder::with_plan(&astray);
    refused(&folder, &["run", "plan.toml"], &["no link joins a node `sever`", "`server`?"]);
}

/// Nothing is known of TCP, and nothing is promised.
#[test]
fn a_network_without_contracts_has_no_bounds() {
    let folder = Folder::with_plan(NETWORK);
    let text = folder.laxity(&["check", "plan.toml"]).printed(0);
    assert!(text.contains("tcp has no bound at host → router: it has no arrival curve"), "{text}");
    assert!(!text.contains("dmitted"), "{text}");
    let without = &NETWORK[..NETWORK.find("[[source]]").unwrap()];
    let folder = Folder::with_plan(without);
    refused(&folder, &["check", "plan.toml"], &["the plan has no [[source]]"]);
}

#[test]
fn paths_are_proved_and_measured() {
    let plan = std::fs::read_to_string(repository("examples/two-hops.toml")).unwrap();
    let folder = Folder::with_plan(&plan);
    let text = folder.laxity(&["check", "plan.toml"]).printed(0);
    for wanted in ["Admitted. Every promise holds", "office → edge → cloud", "bursts once [ms]"]
    {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let proof = folder.laxity(&["check", "plan.toml", "--json"]).json(0);
    let [voice, branch, video, web, _] = &proof["paths"].as_array().unwrap()[..] else {
        panic!("{proof}")
    };
    let of = |path: &Value, key: &str| path[key].as_u64().unwrap();
    for path in [voice, branch, video] {
        let methods = path["methods_ns"].as_object().unwrap();
        let least = methods.values().map(|delay| delay.as_u64().unwrap()).min();
        assert_eq!(Some(of(path, "bound_ns")), least);
        assert_eq!(path["bound_ns"], methods[path["method"].as_str().unwrap()]);
        assert_eq!(path["sum_ns"], methods["hops added"]);
        assert_eq!(path["once_ns"], methods["bursts once"]);
        assert_eq!(of(path, "slack_ns"), of(path, "deadline_ns") - of(path, "bound_ns"));
        assert!(of(path, "empty_ns") < of(path, "bound_ns"));
    }
    assert!(of(video, "once_ns") < of(video, "sum_ns"), "{video}");
    assert_eq!(
        (&web["bound_ns"], &web["unbounded"]),
        (&Value::Null, &"it has no arrival curve".into())
    );

    let run = ["run", "plan.toml", "--duration", "3s", "--out", "out"];
    let text = folder.laxity(&run).printed(0);
    assert!(text.contains(" bound ") && text.contains("Every promise was kept."), "{text}");
    let summary = folder.json("out/summary.json");
    let bound = of(voice, "bound_ns").max(of(branch, "bound_ns"));
    assert_eq!(of(&summary["classes"][0], "bound_ns"), bound);
    assert!(of(&summary["classes"][0]["delay_ns"], "max") <= bound);
    assert!(folder.text("out/report.html").contains("A bound is what is proved"));
    let compare = ["compare", "plan.toml", "--schedulers", "hfsc,wf2q", "--duration", "1s"];
    assert!(folder.laxity(&compare).printed(0).contains(" bound "));
}

/// Three flows round a ring, one of whose links breaks the circle.
#[test]
fn where_packets_are_held_is_told() {
    let mut plan = String::from(
        "version = 1\nlink = { rate = \"8mbit\", max-packet = \"1000b\" }\nscheduler.kind = \"fifo\"\n",
    );
    for [from, to, last] in [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]] {
        plan += &format!(
            "[class.{from}]\narrival = {{ bucket = \"2kB\", rate = \"1mbit\" }}\nend-to-end = \"20ms\"\n\
             [network.{from}{to}]\nbetween = [\"{from}\", \"{to}\"]\n[[source]]\nclass = \"{from}\"\n\
             model = \"greedy\"\nburst = \"50ms\"\nspacing = \"50ms\"\npacket = \"1000b\"\n\
             path = [\"{from}\", \"{to}\", \"{last}\"]\n"
        );
    }
    let folder = Folder::with_plan(&plan);
    assert!(folder.laxity(&["check", "plan.toml"]).printed(0).contains("comes back to them"));
    let held = plan.replace("[network.bc]", "[network.bc]\nregulate = true");
    let folder = Folder::with_plan(&held);
    let text = folder.laxity(&["check", "plan.toml"]).printed(0);
    let note = "Note: packets are held to the arrival curves of their classes before these outputs: b → c.";
    assert!(text.contains(note) && !text.contains("comes back to them"), "{text}");
    let proof = folder.laxity(&["check", "plan.toml", "--json"]).json(0);
    assert_eq!(proof["paths"][0]["hops"][1]["regulated"], true);
    assert_eq!(proof["paths"][0]["hops"][0]["regulated"], Value::Null);
    let run = ["run", "plan.toml", "--duration", "2s"];
    assert!(folder.laxity(&run).printed(0).contains("Every promise was kept."));
    let export = ["export", "saihu", "plan.toml"];
    refused(&folder, &export, &["link `bc` has `regulate`, which the file cannot say"]);
}

#[test]
fn what_is_promised_and_not_proved_is_told() {
    let plan = std::fs::read_to_string(repository("examples/two-hops.toml")).unwrap();
    let tight = plan.replace("end-to-end = \"80ms\"", "end-to-end = \"7ms\"");
    let folder = Folder::with_plan(&tight);
    let text = folder.laxity(&["check", "plan.toml"]).printed(1);
    assert!(
        text.contains("NOT ADMITTED. Not every promise holds: video from end to end"),
        "{text}"
    );
    let text = folder.laxity(&["run", "plan.toml", "--duration", "1s"]).printed(1);
    assert!(text.contains("LATE: video:") && text.contains("missed the deadline of"), "{text}");

    let full = plan.replace("rate = \"16mbit\"", "rate = \"4mbit\"");
    let folder = Folder::with_plan(&full);
    let text = folder.laxity(&["check", "plan.toml"]).printed(1);
    for wanted in ["at edge → cloud", "more is promised than there is"] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }

    let deadline = plan.replace("end-to-end = \"80ms\"", "deadline = \"5ms\"");
    let folder = Folder::with_plan(&deadline);
    let text = folder.laxity(&["check", "plan.toml"]).printed(1);
    assert!(text.contains("video at office → edge, is to take no more than"), "{text}");
}

/// GPS over EDF is proved, and what is proved is kept.
#[test]
fn schedulers_below_shares_are_proved_and_measured() {
    let plan = std::fs::read_to_string(repository("examples/gps-over-edf.toml")).unwrap();
    let folder = Folder::with_plan(&plan);
    let text = folder.laxity(&["check", "plan.toml"]).printed(0);
    for wanted in ["Admitted. Every deadline holds. Inside real-time", "5.241", "26.69"] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    for seed in ["1", "2", "3"] {
        let run = ["run", "plan.toml", "--duration", "5s", "--seed", seed];
        assert!(folder.laxity(&run).printed(0).contains("Every promise was kept."));
    }
    let folder = Folder::with_plan(&plan.replace("weight = 6", "weight = 1"));
    let text = folder.laxity(&["check", "plan.toml"]).printed(1);
    assert!(text.contains("NOT ADMITTED"), "{text}");
}

/// The flood as it was recorded, in place of what would be drawn.
#[test]
fn a_network_is_fed_by_a_recording() {
    let (links, _) = NETWORK.split_once("[[source]]").unwrap();
    let source = "[[source]]\nmodel = \"csv\"\nfile = \"flood.csv\"\nsort = true\n\
                  path = [\"host\", \"router\", \"server\"]\n";
    let recorded = "time_ns,class,flow,length\n0,flood,3,1000\n30000000000,flood,4,500\n20000000000,tcp,1,500\n";
    let folder = Folder::with_plan(&format!("{links}{source}")).with("flood.csv", recorded);
    let text = folder.laxity(&["run", "plan.toml", "--out", "out"]).printed(0);
    assert!(
        text.contains("Note: 1 packet was recorded 10s out of order and put in order."),
        "{text}"
    );
    let summary = folder.json("out/summary.json");
    // 500 bytes at 10 and at 1 Mbit/s, and twice 2 ms in between.
    assert_eq!(summary["duration_ns"], 30_008_400_000u64);
    let packets = folder.text("out/packets.csv");
    let last = "bottleneck,router,server,flood,4,500,30002400000,,30002400000,30006400000,sent";
    assert_eq!(packets.lines().last(), Some(last), "{packets}");
    let compared = folder.laxity(&["compare", "plan.toml", "--schedulers", "fifo,drr"]).printed(0);
    assert!(compared.contains("out of order"), "{compared}");
    let nothing = folder.with("flood.csv", "time_ns,class,length\n");
    let refusal = "nothing arrived: the sources or the recording have no packet";
    refused(&nothing, &["run", "plan.toml"], &[refusal]);
}

#[test]
fn a_profile_tells_where_the_time_went() {
    let folder = Folder::with_plan(NETWORK);
    let run = ["run", "plan.toml", "--duration", "5s", "--profile"];
    let plain = folder.laxity(&["run", "plan.toml", "--duration", "5s", "--json"]).json(0);
    let ended = folder.laxity(&[&run[..], &["--json"]].concat());
    let mut profiled: Value = serde_json::from_str(&ended.stdout).unwrap();
    let profile = profiled.as_object_mut().unwrap().remove("profile").unwrap();
    assert_eq!(profiled, plain);
    assert_eq!(profile["hops"], plain["hop_departures"]);
    let spent = profile["spent"].as_array().unwrap();
    let counted: u64 = spent.iter().map(|spent| spent["count"].as_u64().unwrap()).sum();
    assert_eq!(profile["events"].as_u64(), Some(counted));
    let whats: Vec<_> = spent.iter().map(|spent| spent["what"].as_str().unwrap()).collect();
    for what in ["sources", "arrivals", "senders", "choices"] {
        assert!(whats.contains(&what), "{whats:?}");
    }

    let ended = folder.laxity(&run);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for wanted in ["bottleneck", "arrivals", "choices", "fifo", "ns a hop"] {
        assert!(ended.stderr.contains(wanted), "{wanted}: {}", ended.stderr);
    }
    let link = r#"
        version = 1
        link = { rate = "8mbit" }
        scheduler = { kind = "wfq" }
        class.web = {}
        source = [{ class = "web", model = "poisson", packet = "1500b", rate = "500kB/s" }]
    "#;
    let one_link = Folder::with_plan(link);
    let plain = one_link.laxity(&["run", "plan.toml", "--duration", "5s", "--json"]).json(0);
    let ended = one_link.laxity(&[&run[..], &["--json"]].concat());
    let mut profiled: Value = serde_json::from_str(&ended.stdout).unwrap();
    let profile = profiled.as_object_mut().unwrap().remove("profile").unwrap();
    assert_eq!(profiled, plain);
    assert_eq!(profile["hops"], plain["classes"][0]["sent"]);
    let ended = one_link.laxity(&["run", "plan.toml", "--duration", "5s", "--threads", "2"]);
    assert!(ended.stderr.contains("One thread"), "{}", ended.stderr);

    let refused = folder.laxity(&[&run[..], &["--threads", "2"]].concat());
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("cannot be used with '--threads"), "{}", refused.stderr);
}
