//! `-` is standard input, for plans, recordings and scripts.

use std::fs::{self, File};

use serde_json::Value;

use crate::bad_input::PLAN;
use crate::folder::{CommandResult, Folder, repository};

const CSV: &str = "time_ns,class,length,flow\n5,voice,100,0\n6,ftp,1500,3\n90000,voice,80,1\n";

/// How a command ends with an input in a file, and on standard input.
fn both_ways(folder: &Folder, command: &[&str], file: &str) -> [CommandResult; 2] {
    let piped: Vec<&str> =
        command.iter().map(|word| if *word == file { "-" } else { *word }).collect();
    assert!(piped.contains(&"-"), "{command:?}");
    let content = fs::read(folder.path(file)).unwrap();
    [folder.laxity(command), folder.laxity_reads(&piped, &content)]
}

fn same_both_ways(folder: &Folder, command: &[&str], file: &str) {
    let [named, piped] = both_ways(folder, command, file);
    assert!(named.stderr.is_empty() && piped.stderr.is_empty(), "{}{}", named.stderr, piped.stderr);
    assert_eq!(named.code, piped.code, "{command:?}");
    assert_eq!(named.stdout, piped.stdout, "{command:?}");
}

/// Every command that reads a plan or a recording.
fn commands<'a>(arrivals: &[&'a str]) -> Vec<Vec<&'a str>> {
    let commands: [&[&str]; 7] = [
        &["run", "plan.toml", "--json"],
        &["run", "plan.toml", "--out", "out"],
        &["compare", "plan.toml", "--schedulers", "fifo,edf,wfq,drr", "--json"],
        &["compare", "plan.toml", "--schedulers", "fifo"],
        &["compare", "plan.toml", "--schedulers", "fifo,edf", "--out", "out"],
        &["fit", "plan.toml", "--json"],
        &["fit", "plan.toml"],
    ];
    commands.map(|command| [command, arrivals].concat()).into()
}

#[test]
fn a_plan() {
    let folder = Folder::with_plan(PLAN).with("in.csv", CSV);
    same_both_ways(&folder, &["check", "plan.toml"], "plan.toml");
    same_both_ways(&folder, &["check", "plan.toml", "--json"], "plan.toml");
    for command in commands(&["--arrivals", "in.csv"]) {
        same_both_ways(&folder, &command, "plan.toml");
    }
    assert_eq!(folder.json("out/manifest.json")["plan"], "-");
}

#[test]
fn relative_paths_of_a_plan_on_standard_input_count_from_the_working_folder() {
    let model = &PLAN[PLAN.find("class = \"voice\"\nmodel").unwrap()..];
    let plan =
        |file: &str| PLAN.replace(model, &format!("model = \"capture\"\nfile = \"{file}\"\n"));
    let folder = Folder::new().with("in.csv", CSV).with("plan.toml", plan("in.csv"));
    for command in commands(&[]) {
        same_both_ways(&folder, &command, "plan.toml");
    }
    let missing = folder.laxity_reads(&["run", "-"], plan("none.csv").as_bytes());
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("none.csv"), "{}", missing.stderr);
}

#[test]
fn a_recording_of_every_kind() {
    let folder = Folder::with_plan(PLAN).with("in.csv", CSV).with("in.pcapng", pcapng());
    for file in ["in.csv", "in.pcapng"] {
        for command in commands(&["--arrivals", file]) {
            same_both_ways(&folder, &command, file);
        }
    }
    let plan = fs::read(repository("examples/home-uplink.toml")).unwrap();
    let capture = fs::read(repository("examples/home-uplink.pcap")).unwrap();
    assert!(capture.len() > 1 << 19, "a recording that no pipe holds");
    let folder = Folder::new().with("plan.toml", plan).with("home-uplink.pcap", capture);
    for command in commands(&["--arrivals", "home-uplink.pcap"]) {
        same_both_ways(&folder, &command, "home-uplink.pcap");
    }
}

/// A capture of two frames to port 4000 and one to no port, a second apart.
fn pcapng() -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| {
        let length = (body.len() as u32 + 12).to_le_bytes();
        [&kind.to_le_bytes()[..], &length, body, &length].concat()
    };
    let section = [&0x1a2b_3c4d_u32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xff; 8]].concat();
    let interface = [1, 0, 0, 0, 0, 0, 4, 0];
    let frame = |second: u64, port: u16| {
        let mut frame = vec![0; 60];
        frame[12..15].copy_from_slice(&[8, 0, 0x45]);
        frame[17] = 46;
        frame[23] = if port == 0 { 1 } else { 17 };
        frame[36..38].copy_from_slice(&port.to_be_bytes());
        let time = second * 1_000_000;
        let words = [0, (time >> 32) as u32, time as u32, 60, 60];
        let words: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
        block(6, &[words, frame].concat())
    };
    [
        block(0x0a0d_0d0a, &section),
        block(1, &interface),
        frame(1, 4000),
        frame(2, 0),
        frame(3, 4000),
    ]
    .concat()
}

#[test]
fn standard_input_is_read_once() {
    let folder = Folder::with_plan(PLAN);
    for command in ["run", "fit"] {
        both_refused(&folder, &[command, "-", "--arrivals", "-"]);
    }
    both_refused(&folder, &["compare", "-", "--schedulers", "fifo", "--arrivals", "-"]);
}

fn both_refused(folder: &Folder, command: &[&str]) {
    let ended = folder.laxity_reads(command, PLAN.as_bytes());
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    let says = ended.stderr.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>();
    let says = says.join(" ");
    assert!(says.contains("the plan and --arrivals are both -"), "{says}");
}

#[test]
fn what_is_wrong_on_standard_input_is_pointed_at() {
    let folder = Folder::with_plan(PLAN);
    let wrong = PLAN.replace("10mbit", "10mbps");
    for command in [&["check", "-"][..], &["run", "-", "--out", "out"], &["fit", "-"]] {
        let ended = folder.laxity_reads(command, wrong.as_bytes());
        assert_eq!(ended.code, Some(2));
        assert!(ended.stderr.contains("<stdin>:3:8"), "{}", ended.stderr);
    }
    let run = ["run", "plan.toml", "--out", "out", "--arrivals", "-"];
    let compare = ["compare", "plan.toml", "--schedulers", "fifo,edf", "--arrivals", "-"];
    for command in [&run[..], &compare, &["fit", "plan.toml", "--arrivals", "-"]] {
        let unsorted = "time_ns,class,length\n5,voice,100\n4,voice,100\n";
        for (input, says) in [(unsorted, "<stdin>:3"), ("", "<stdin>: the file is empty")] {
            let ended = folder.laxity_reads(command, input.as_bytes());
            assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{command:?}");
            assert!(ended.stderr.contains(says), "{}", ended.stderr);
        }
        let mut torn = pcapng();
        // The length of the last block, told twice.
        let last = torn.len() - 4;
        torn[last] ^= 4;
        let ended = folder.laxity_reads(command, &torn);
        assert!(ended.stderr.contains("<stdin>: frame 3"), "{}", ended.stderr);
    }
    assert_eq!(folder.content().len(), 1);
}

#[test]
fn a_file_called_hyphen_has_a_longer_name() {
    let folder = Folder::new().with("-", PLAN);
    folder.laxity(&["check", "./-"]).printed(0);
    assert_eq!(folder.laxity(&["check", "-"]).code, Some(2));
}

/// A shell's `<` may name what would be written over.
#[cfg(unix)]
#[test]
fn a_command_does_not_write_over_what_its_standard_input_is() {
    let folder = Folder::with_plan(PLAN);
    fs::create_dir(folder.path("out")).unwrap();
    let folder = folder.with("out/packets.csv", CSV);
    let mut command = folder.command(&["run", "plan.toml", "--arrivals", "-", "--out", "out"]);
    command.stdin(File::open(folder.path("out/packets.csv")).unwrap());
    let ended = command.output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    let says = String::from_utf8(ended.stderr).unwrap();
    assert!(says.contains("--arrivals, <stdin>"), "{says}");
    assert_eq!(folder.text("out/packets.csv"), CSV);
}

/// Only what is needed of an endless recording is read.
#[cfg(unix)]
#[test]
fn a_recording_that_goes_on_is_read_for_as_long_as_the_run_lasts() {
    use std::process::Command;

    let folder = Folder::with_plan(PLAN);
    let mut shell = Command::new("sh");
    let script = "{ echo time_ns,class,length; n=0
        while echo $n,voice,100; do n=$((n + 1000000)); done 2>/dev/null; } |
        \"$0\" run plan.toml --json --duration 100ms --arrivals -";
    shell.args(["-c", script, env!("CARGO_BIN_EXE_laxity")]).current_dir(folder.path(""));
    let ended = shell.output().unwrap();
    let summary: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(summary["classes"][0]["arrived"], 100);
}
