//! `laxity fit --write`: curves put into the plan file.

use crate::bad_input::refused;
use crate::folder::{Folder, repository};

const ARRIVALS: &str = "time_ns,class,length\n0,voice,100\n0,ftp,1500\n20000000,voice,60\n\
                        30000000,ftp,1500\n40000000,voice,100\n";

fn plan(voice: &str, ftp: &str) -> String {
    format!(
        "# Head.\nversion = 1\nlink = {{ rate = \"10mbit\" }}  # ours\nscheduler = {{ kind = \"edf\" }}\n\n{voice}\n{ftp}"
    )
}

#[test]
fn only_the_lines_of_arrival_change_and_a_second_time_nothing() {
    let voice = "[class.voice]  # calls\n  deadline = \"50ms\"\n  arrival={bucket=\"900b\",rate=\"150kB/s\"} # guessed\n\n  # Below.\n";
    let text = plan(voice, "[class.ftp]\nweight=0.5 # half\n\n# The end.\n");
    for text in [text.clone(), text.replace('\n', "\r\n")] {
        let folder = Folder::with_plan(&text).with("in.csv", ARRIVALS);
        let fit = ["fit", "plan.toml", "--arrivals", "in.csv", "--write"];
        let printed = folder.laxity(&fit).printed(0);
        assert!(printed.contains("- arrival = {bucket=\"900b\",rate=\"150kB/s\"}"), "{printed}");
        let written = folder.text("plan.toml");
        let kept = |text: &str| {
            let lines = text.split_inclusive('\n');
            let other = lines.filter(|line| !line.contains("bucket") && !line.contains("arrival"));
            other
                .filter(|line| line.trim() != "]" && !line.trim().starts_with("] #"))
                .collect::<String>()
        };
        assert_eq!(kept(&written), kept(&text));
        assert!(written.contains("# guessed"), "{written}");
        folder.laxity(&["check", "plan.toml"]).printed(0);
        let again = folder.laxity(&fit).printed(0);
        assert!(again.contains("nothing was changed"), "{again}");
        assert_eq!(folder.text("plan.toml"), written);
        let run = folder.laxity(&["run", "plan.toml", "--arrivals", "in.csv"]).printed(0);
        assert!(!run.contains("broke its arrival curve"), "{run}");
    }
}

#[test]
fn what_cannot_be_written_is_refused_and_nothing_is() {
    let fit = ["fit", "plan.toml", "--arrivals", "in.csv", "--write"];
    for (voice, says) in [
        ("class.voice = {}\n", "written in one line"),
        ("[class.voice]\narrival.bucket = \"900b\"\narrival.rate = \"1mbit\"\n", "arrival"),
        ("[class.voice.arrival]\nbucket = \"900b\"\nrate = \"1mbit\"\n", "class.voice"),
    ] {
        let folder = Folder::with_plan(&plan(voice, "[class.ftp]\n")).with("in.csv", ARRIVALS);
        refused(&folder, &fit, &[says]);
    }
    refused(&Folder::new(), &["fit", "-", "--write"], &["standard input"]);
}

#[test]
fn the_example_is_written_and_admitted() {
    let text = std::fs::read_to_string(repository("examples/home-uplink.toml")).unwrap();
    let pcap = std::fs::read(repository("examples/home-uplink.pcap")).unwrap();
    let folder = Folder::with_plan(&text).with("home-uplink.pcap", pcap);
    let fit = ["fit", "plan.toml", "--write"];
    let printed = folder.laxity(&fit).printed(0);
    let written = folder.text("plan.toml");
    let comments = |text: &str| {
        text.lines().filter(|line| line.starts_with('#')).map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!(comments(&written), comments(&text), "{printed}");
    assert!(folder.laxity(&["check", "plan.toml"]).code.is_some_and(|code| code < 2));
    folder.laxity(&fit).printed(0);
    assert_eq!(folder.text("plan.toml"), written);
}
