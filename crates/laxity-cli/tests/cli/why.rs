//! `laxity why`: what delayed packets, and what would have changed that.

use serde_json::Value;

use crate::bad_input::refused;
use crate::folder::{Folder, repository};

/// An example's own folder, with its plan as `plan.toml`.
fn example(name: &str) -> Folder {
    Folder::with_plan(&std::fs::read_to_string(repository(&format!("examples/{name}"))).unwrap())
}

fn json(folder: &Folder, arguments: &[&str]) -> Value {
    let arguments = [&["why", "plan.toml", "--json"], arguments].concat();
    serde_json::from_str(&folder.laxity(&arguments).printed(0)).unwrap()
}

fn sum(parts: &Value) -> u64 {
    parts.as_array().unwrap().iter().map(|part| part["time_ns"].as_u64().unwrap()).sum()
}

/// The time of a cause, of packets of a class.
fn time(parts: &Value, cause: &str, of: Option<&str>) -> u64 {
    let parts = parts.as_array().unwrap().iter();
    let alike = parts.filter(|part| part["cause"] == cause && part["of"].as_str() == of);
    alike.map(|part| part["time_ns"].as_u64().unwrap()).sum()
}

/// A packet of 1500 bytes takes 12 ms at 1 Mbit/s, and one of 200 bytes 1.6 ms.
#[test]
fn a_call_waits_for_a_long_packet_and_for_nothing_else() {
    let folder = example("why/long-packet.toml");
    let answer = json(&folder, &["--class", "call", "--slowest", "2"]);
    assert_eq!(answer["matched"], 500);
    for packet in answer["packets"].as_array().unwrap() {
        let parts = &packet["hops"][0]["parts"];
        assert_eq!(sum(parts), packet["delay_ns"].as_u64().unwrap());
        assert_eq!(time(parts, "transmission", None), 1_600_000);
        let waited = time(parts, "on-link", Some("upload"));
        assert!((11_000_000..12_000_000).contains(&waited), "{packet}");
        assert_eq!(parts.as_array().unwrap().len(), 2);
    }
}

/// Without the upload a call's packet takes its own transmission alone, and at twice the rate half
/// of that.
#[test]
fn changes_are_simulated_with_the_same_arrivals() {
    let folder = example("why/long-packet.toml");
    let changes = ["--without", "upload", "--with", "link.rate=2mbit", "--scheduler", "fifo"];
    let answer = json(&folder, &[&["--class", "call", "--slowest", "1"], &changes[..]].concat());
    let [without, faster, fifo] = [0, 1, 2].map(|number| &answer["changes"][number]);
    assert_eq!([&without["change"], &faster["change"]], ["without upload", "link.rate=2mbit"]);
    for change in [without, faster, fifo] {
        assert_eq!([&change["packets"], &change["dropped"], &change["absent"]], [500, 0, 0]);
        assert_eq!(change["slowest"][0]["arrival_ns"], answer["packets"][0]["arrival_ns"]);
        assert_eq!(change["before_ns"], sum(&answer["classes"][0]["parts"]));
    }
    assert_eq!(without["slowest"][0]["delay_ns"], 1_600_000);
    assert_eq!(time(&faster["slowest"][0]["hops"][0]["parts"], "transmission", None), 800_000);
    assert!(fifo["delay_ns"].as_u64() > fifo["before_ns"].as_u64());
    let printed = folder.laxity(&["why", "plan.toml", "--class", "call", "--without", "upload"]);
    let printed = printed.printed(0).replace('\u{a0}', " ");
    assert!(printed.contains("without upload: 1.6 ms, 11.99 ms less"));
}

/// What is proposed helps, the most first.
#[test]
fn changes_that_help_are_proposed() {
    let folder = example("why/long-packet.toml");
    let answer = json(&folder, &["--class", "call", "--slowest", "1", "--propose"]);
    let changes = answer["changes"].as_array().unwrap();
    assert_eq!(changes[0]["change"], "without upload");
    assert_eq!(changes[1]["change"], "link.rate=1.25mbit");
    assert!(answer["tried"].as_u64().unwrap() >= 3);
    let sums = changes.iter().map(|change| change["delay_ns"].as_u64().unwrap());
    assert!(sums.clone().is_sorted() && sums.max() < changes[0]["before_ns"].as_u64());
    refused(&folder, &["why", "plan.toml", "--propose", "--without", "upload"], &["--propose"]);
}

/// A link of its own that is never busy leaves nothing to help with but a faster one.
#[test]
fn where_no_change_helps_it_is_said() {
    let plan = "version = 1\nlink = { rate = \"1mbit\" }\nscheduler = { kind = \"fifo\" }\n\
                [class.a]\n[[source]]\nclass = \"a\"\nmodel = \"constant\"\nrate = \"8kbit\"\n\
                packet = \"100b\"\n";
    let folder = Folder::with_plan(plan);
    let asked = ["why", "plan.toml", "--propose", "--slowest", "0"];
    assert!(folder.laxity(&asked).printed(0).contains("after each change"));
    let folder = Folder::with_plan(&plan.replace("1mbit", "800gbit"));
    let printed = folder.laxity(&asked).printed(0);
    let is_said = ["tried helps.", "does not help."].iter().any(|end| printed.contains(end));
    assert!(is_said, "{printed}");
}

/// Packets of the warm-up count neither in the run nor here; by its number each can be asked for.
#[test]
fn packets_are_counted_from_the_end_of_the_warm_up_on() {
    let plan = "version = 1\nlink = { rate = \"1mbit\" }\nscheduler = { kind = \"edf\" }\n\
                run = { duration = \"2s\", warm-up = \"500ms\" }\n\
                [class.a]\ndeadline = \"3ms\"\n\
                arrival = { bucket = \"1500b\", rate = \"700kbit\", packet = \"250b\" }\n\
                [[source]]\nclass = \"a\"\nmodel = \"poisson\"\nrate = \"700kbit\"\n\
                packet = \"250b\"\n";
    let folder = Folder::with_plan(plan);
    let run = folder.laxity(&["run", "plan.toml", "--json"]).printed(1);
    let run: Value = serde_json::from_str(&run).unwrap();
    let (sent, missed) = (&run["classes"][0]["sent"], &run["classes"][0]["deadline_misses"]);
    assert_eq!(json(&folder, &[])["matched"], *sent);
    assert_eq!(json(&folder, &["--missed"])["matched"], *missed);
    assert!(missed.as_u64() > Some(0) && missed.as_u64() < sent.as_u64());
    let first = &json(&folder, &["--packet", "0"])["packets"][0];
    assert!(first["arrival_ns"].as_u64().unwrap() < 500_000_000);
}

/// In a network the classes of a recording can be left out, too.
#[test]
fn a_class_of_a_recording_is_left_out_in_a_network() {
    let plan = "version = 1\nlink = { rate = \"1mbit\" }\nscheduler = { kind = \"fifo\" }\n\
                [class.a]\n[class.b]\n[network.line]\nbetween = [\"x\", \"y\"]\n\
                [[source]]\nmodel = \"csv\"\nfile = \"packets.csv\"\npath = [\"x\", \"y\"]\n";
    let packets = "time_ns,class,length\n0,b,1000\n1000,a,125\n";
    let folder = Folder::with_plan(plan).with("packets.csv", packets);
    let answer = json(&folder, &["--class", "a", "--without", "b"]);
    assert_eq!(answer["packets"][0]["delay_ns"], 8_000_000 - 1_000 + 1_000_000);
    let without = &answer["changes"][0];
    assert_eq!([&without["packets"], &without["delay_ns"]], [1, 1_000_000]);
}

/// Over each hop of a network the parts end where the packet comes to the next one.
#[test]
fn a_regulator_holds_a_burst() {
    let folder = example("why/regulator.toml");
    let answer = json(&folder, &["--class", "sensor", "--slower-than", "12ms", "--slowest", "50"]);
    for packet in answer["packets"].as_array().unwrap() {
        let hops = packet["hops"].as_array().unwrap();
        let ends = hops.iter().map(|hop| hop["arrival_ns"].as_u64().unwrap() + sum(&hop["parts"]));
        let begins = hops[1..].iter().map(|hop| hop["arrival_ns"].as_u64().unwrap());
        assert!(ends.eq(begins.chain(packet["end_ns"].as_u64())), "{packet}");
    }
    assert!(time(&answer["classes"][0]["parts"], "regulator", None) > 0);
}

/// A class that is guaranteed half of the link, and sends a burst, waits for every other packet
/// although it would finish first.
#[test]
fn a_class_ahead_of_its_share_is_not_eligible() {
    let answer = json(&example("why/eligible.toml"), &["--class", "first", "--slowest", "1"]);
    let parts = answer["packets"][0]["hops"][0]["parts"].as_array().unwrap();
    let rules = parts.iter().filter(|part| part["cause"] == "before" && part["of"] != "first");
    assert!(rules.clone().count() == 3 && rules.clone().all(|part| part["rule"] == "ineligible"));
}

/// The burst of 40 kB takes the virtual time of the video ahead of the backup's. Until the backup
/// has caught up, its packets alone are sent beside what the real-time curve asks for.
#[test]
fn a_leaf_is_punished_by_its_own_excess() {
    let change = "class.video.real-time.rate=1mbit";
    let asked = ["--class", "video", "--slowest", "1", "--with", change];
    let answer = json(&example("why/excess.toml"), &asked);
    let packet = &answer["packets"][0];
    let parts = packet["hops"][0]["parts"].as_array().unwrap();
    let is_punished = |part: &&Value| part["of"] == "backup" && part["rule"] == "virtual-time";
    let punished = parts.iter().find(is_punished).unwrap()["time_ns"].as_u64().unwrap();
    assert_eq!((punished, sum(&packet["hops"][0]["parts"])), (301_200_000, 317_466_666));
    assert_eq!(packet["delay_ns"], 317_466_666);
    let change = &answer["changes"][0];
    assert_eq!([&answer["matched"], &change["packets"]], [490, 490]);
    assert!(change["delay_ns"].as_u64().unwrap() * 10 < change["before_ns"].as_u64().unwrap());
}

/// From the time at which the clock has gained 20 us, a packet misses its frame, and each that
/// follows finds the next one taken.
#[test]
fn a_time_frame_is_missed_by_a_clock() {
    let folder = example("why/clock.toml");
    let exact = ["--with", "node.hall.clock.drift=0"];
    let asked = ["--class", "camera", "--slower-than", "10ms", "--slowest", "300"];
    let answer = json(&folder, &[&asked[..], &exact].concat());
    assert_eq!(answer["matched"], 298 - 66);
    let packets = answer["packets"].as_array().unwrap();
    assert!(packets.iter().all(|packet| packet["delay_ns"] == 10_660_000), "{}", packets[0]);
    let first = packets.iter().map(|packet| packet["arrival_ns"].as_u64().unwrap()).min();
    assert_eq!(first, Some(9_980_000 + 66 * 10_000_000));
    let parts = &packets[0]["hops"][0]["parts"];
    let frames = parts.as_array().unwrap().iter().filter(|part| part["rule"] == "time-frame");
    let waited: u64 = frames.map(|part| part["time_ns"].as_u64().unwrap()).sum();
    assert_eq!(waited, 9_999_601);
    assert_eq!(answer["changes"][0]["delay_ns"], 232 * 660_000);
    let checked = folder.laxity(&["check", "plan.toml"]).printed(0);
    assert!(checked.contains("Admitted"));
}

/// The figures are files of the folder that is named, and other files stay as they are.
#[test]
fn figures_are_written_into_a_folder() {
    let figures = [
        ("why/long-packet.toml", &["causes.svg"][..]),
        ("why/overload.toml", &["causes.svg", "demand.svg"]),
        ("why/excess.toml", &["causes.svg", "service.svg", "virtual-times.svg"]),
        ("why/regulator.toml", &["causes.svg"]),
    ];
    for (plan, names) in figures {
        let folder = example(plan);
        std::fs::create_dir(folder.path("out")).unwrap();
        std::fs::write(folder.path("out/notes.txt"), "mine").unwrap();
        let printed = folder.laxity(&["why", "plan.toml", "--out", "out"]).printed(0);
        let mut written: Vec<_> = std::fs::read_dir(folder.path("out"))
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "notes.txt")
            .collect();
        written.sort();
        assert_eq!(written, [names, &["why.html"]].concat(), "{plan}");
        for name in names {
            let svg = std::fs::read_to_string(folder.path("out").join(name)).unwrap();
            assert!(svg.starts_with("<svg") && !svg.contains("NaN"), "{plan} {name}");
            assert!(printed.contains(name), "{printed}");
        }
    }
}

/// The packets that are late are those that `run` counts.
#[test]
fn an_overload_delays_all() {
    let folder = example("why/overload.toml");
    let run = folder.laxity(&["run", "plan.toml", "--json"]).printed(1);
    let run: Value = serde_json::from_str(&run).unwrap();
    let missed: u64 = run["classes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|class| class["deadline_misses"].as_u64().unwrap())
        .sum();
    let answer = json(&folder, &["--missed", "--slowest", "1"]);
    assert_eq!(answer["matched"], missed);
    let rules = answer["packets"][0]["hops"][0]["parts"].as_array().unwrap();
    assert!(rules.iter().any(|part| part["rule"] == "earlier-deadline"));
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let link = example("why/long-packet.toml");
    let why = |arguments: &[&'static str]| [&["why", "plan.toml"], arguments].concat();
    refused(&link, &why(&["--class", "calls"]), &["no class `calls`", "`call`, `upload`"]);
    refused(&link, &why(&["--without", "calls"]), &["no class `calls`", "`call`, `upload`"]);
    refused(&link, &why(&["--with", "link.rate"]), &["KEY=VALUE"]);
    refused(&link, &why(&["--with", "links.rate=1mbit"]), &["no `links`"]);
    refused(&link, &why(&["--with", "link.rates=1mbit"]), &["unknown key `rates`"]);
    refused(&link, &why(&["--with", "link.rate=fast"]), &["fast"]);
    refused(&link, &why(&["--scheduler", "none"]), &["none"]);
    refused(&link, &why(&["--slower-than", "5"]), &["5"]);
    let network = example("why/regulator.toml");
    refused(&network, &why(&["--packet", "3"]), &["the plan is a network"]);
    let nothing = link.laxity(&why(&["--slower-than", "60min"])).printed(0);
    assert_eq!(nothing, "No packet of the run is among those asked for.\n");
}
