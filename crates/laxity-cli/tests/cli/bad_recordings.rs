//! Recordings that are refused, with the line or frame that is wrong.

use crate::bad_input::{PLAN, refused};
use crate::folder::Folder;

/// Every command that takes a recording refuses this one.
fn recording_refused(name: &str, content: impl AsRef<[u8]>, says: &[&str]) {
    recording_refused_under(PLAN, name, content, says);
}

fn recording_refused_under(plan: &str, name: &str, content: impl AsRef<[u8]>, says: &[&str]) {
    let folder = Folder::with_plan(plan).with(name, content);
    let arrivals = ["--arrivals", name];
    refused(&folder, &[&["run", "plan.toml", "--out", "out"], &arrivals[..]].concat(), says);
    refused(&folder, &[&["fit", "plan.toml"], &arrivals[..]].concat(), says);
    let compare = ["compare", "plan.toml", "--schedulers", "fifo,edf", "--out", "out"];
    refused(&folder, &[&compare, &arrivals[..]].concat(), says);
}

#[test]
fn no_recording_at_all() {
    let accepted = "give a pcap or pcapng capture, or a CSV `time_ns,class,length[,flow]`";
    let folder = Folder::with_plan(PLAN);
    let run = ["run", "plan.toml", "--out", "out", "--arrivals"];
    refused(&folder, &[&run[..], &["none.pcap"]].concat(), &["none.pcap"]);
    refused(&folder, &[&run[..], &["."]].concat(), &["directory"]);
    recording_refused("empty.pcap", "", &["empty.pcap", "the file is empty", accepted]);
    let gzip = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0];
    recording_refused("a.pcap.gz", gzip, &["a.pcap.gz", "a gzip file (unpack it first)", accepted]);
    recording_refused("a.pcap", "\u{7f}ELF\u{2}", &["a.pcap", "a binary file", accepted]);
    recording_refused(
        "a.pcap",
        "once upon a time",
        &["a.pcap:1", "column `once upon a time` is unknown", "must name `time_ns`, `class`"],
    );
    recording_refused("a.pcap", &pcap(1, &[])[..20], &["a.pcap", "header is cut off"]);
}

#[test]
fn a_source_of_the_plan_whose_file_is_not_there() {
    let model = &PLAN[PLAN.find("class = \"voice\"\nmodel").unwrap()..];
    let plan = PLAN.replace(model, "model = \"capture\"\nfile = \"none.pcap\"\n");
    let folder = Folder::with_plan(&plan);
    refused(&folder, &["run", "plan.toml", "--out", "out"], &["none.pcap"]);
    refused(&folder, &["fit", "plan.toml"], &["none.pcap"]);
}

#[test]
fn a_wrong_line_of_a_csv() {
    let line = |line: &str, says: &[&str]| {
        let text = format!("time_ns,class,length\n5,voice,100\n{line}\n6,ftp,100\n");
        recording_refused("in.csv", text, &[&["in.csv:3"], says].concat());
    };
    line("6,vioce,100", &["the plan has no class `vioce`", "its classes are voice, ftp"]);
    line("4,voice,100", &["time_ns 4 is before 5 on the line before", "sort the arrivals by time"]);
    line("6,voice,101", &["length 101", "class `voice`", "from 1 to 100 bytes", "`max-packet`"]);
    line("6,ftp,1537", &["length 1537", "class `ftp`", "from 1 to 1536 bytes", "`max-packet`"]);
    line("6,ftp,0", &["length 0", "from 1 to 1536 bytes"]);
    line("6,ftp,-1", &["`-1` is not a length", "a whole number of bytes"]);
    line("6.5,ftp,100", &["`6.5` is not a time_ns", "a whole number of nanoseconds"]);
    line("6,ftp", &["2 fields under 3 columns"]);
    let plan =
        PLAN.replacen("[class.voice]", "[class.calls]\n[class.voice]\nparent = \"calls\"", 1);
    let above = "time_ns,class,length\n5,voice,100\n6,calls,100\n";
    let says = ["in.csv:3", "class `calls` has classes below it", "name one of those"];
    recording_refused_under(&plan, "in.csv", above, &says);
    let size = "time_ns,class,size\n";
    recording_refused("in.csv", size, &["in.csv:1", "column `size` is unknown", "`length`"]);
}

#[test]
fn a_wrong_frame_of_a_capture() {
    let (voice, long) = (udp(60), udp(1537));
    let whole = pcap(1, &[&voice]);
    let cut = &whole[..whole.len() - 1];
    let says = ["in.pcap: frame 1", "the file ends in the middle of it", "record anew"];
    recording_refused("in.pcap", cut, &says);
    recording_refused(
        "in.pcap",
        pcap(1, &[&voice, &voice, &udp(101)]),
        &["in.pcap: frame 3", "101 bytes", "the 100 bytes of class `voice`", "max-packet"],
    );
    recording_refused(
        "in.pcap",
        pcap(1, &[&long]),
        &["in.pcap: frame 1", "1537 bytes", "`max-packet`", "tso off"],
    );
    recording_refused(
        "in.pcap",
        pcap(227, &[&voice]),
        &["in.pcap: frame 1", "type 227 (CAN_SOCKETCAN)", "Ethernet (1), raw IP (101"],
    );
}

#[test]
fn a_recording_that_was_cut_off_is_read_as_far_as_it_is_whole() {
    let voice = udp(60);
    let whole = pcap(1, &[&voice, &voice, &voice]);
    let folder = Folder::with_plan(PLAN).with("in.pcap", &whole[..whole.len() - 1]);
    let note = "the recording was cut off: its last frame is not whole and was left out";
    for command in [&["run", "plan.toml"][..], &["fit", "plan.toml"]] {
        let printed = folder.laxity(&[command, &["--arrivals", "in.pcap"]].concat()).printed(0);
        assert!(printed.contains(note), "{printed}");
    }
}

#[test]
fn what_is_not_looked_into_is_told() {
    let voice = udp(60);
    let mut macsec = voice.clone();
    macsec[12..14].copy_from_slice(&[0x88, 0xe5]);
    let folder = Folder::with_plan(PLAN).with("in.pcap", pcap(1, &[&voice, &macsec, &macsec]));
    let printed = folder.laxity(&["run", "plan.toml", "--arrivals", "in.pcap"]).printed(0);
    let note = "2 frames of MACsec were not looked into: a `match` sees outer headers";
    assert!(printed.contains(note), "{printed}");
    let plan = PLAN.replacen("match = \"any\"", "", 1);
    let folder = Folder::with_plan(&plan).with("in.pcap", pcap(1, &[&macsec]));
    let run = ["run", "plan.toml", "--out", "out", "--arrivals", "in.pcap"];
    refused(
        &folder,
        &run,
        &["none of the recording's 1 frames", "1 frame of MACsec was not looked"],
    );
}

#[test]
fn a_clock_that_steps_back() {
    let voice = udp(60);
    // One frame a second. The third and the fourth are swapped.
    let mut frames = pcap(1, &[&*voice; 5]);
    let (third, fourth) = (24 + 2 * 76, 24 + 3 * 76);
    frames.swap(third, fourth);
    let stamps = ["in.pcap: frame 4", "2.000000000 s", "3.000000000 s", "1s later", "--sort"];
    recording_refused("in.pcap", &frames, &stamps);
    let csv = "time_ns,class,length\n5,voice,60\n4,voice,60\n9,voice,60\n";
    recording_refused("in.csv", csv, &["in.csv:3", "4 is before 5", "--sort"]);

    let folder = Folder::with_plan(PLAN).with("in.pcap", &frames).with("in.csv", csv);
    for (file, furthest) in [("in.pcap", "1s"), ("in.csv", "1ns")] {
        let sorted = ["--arrivals", file, "--sort"];
        let note = format!("Note: 1 packet was recorded {furthest} out of order and put in order.");
        let printed = folder.laxity(&[&["run", "plan.toml"], &sorted[..]].concat()).printed(0);
        assert!(printed.contains(&note), "{printed}");
        let compare = ["compare", "plan.toml", "--schedulers", "fifo,edf"];
        let printed = folder.laxity(&[&compare, &sorted[..]].concat()).printed(0);
        assert!(printed.contains(&note), "{printed}");
        let printed = folder.laxity(&[&["fit", "plan.toml"], &sorted[..]].concat()).printed(0);
        assert!(printed.contains(&note), "{printed}");
    }
    let model = &PLAN[PLAN.find("class = \"voice\"\nmodel").unwrap()..];
    let source = |sort: &str| format!("model = \"capture\"\nfile = \"in.pcap\"\n{sort}");
    let unsorted = Folder::with_plan(&PLAN.replace(model, &source(""))).with("in.pcap", &frames);
    refused(&unsorted, &["run", "plan.toml", "--out", "out"], &stamps);
    refused(&unsorted, &["fit", "plan.toml"], &stamps);
    unsorted.laxity(&["run", "plan.toml", "--sort"]).printed(0);
    let sorted = Folder::with_plan(&PLAN.replace(model, &source("sort = true\n")));
    sorted.with("in.pcap", &frames).laxity(&["run", "plan.toml"]).printed(0);
    refused(&folder, &["run", "plan.toml", "--sort", "--out", "out"], &["none is read"]);
}

/// A pcap file of whole frames.
fn pcap(link_type: u32, frames: &[&[u8]]) -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut file: Vec<u8> = words(&[0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 65_535, link_type]);
    for (second, frame) in frames.iter().enumerate() {
        let length = frame.len() as u32;
        file.extend::<Vec<u8>>(words(&[second as u32, 0, length, length]));
        file.extend_from_slice(frame);
    }
    file
}

/// An Ethernet frame of `length` bytes: IPv4, UDP to port 4000.
fn udp(length: usize) -> Vec<u8> {
    let mut frame = vec![0; length];
    frame[12..15].copy_from_slice(&[8, 0, 0x45]);
    frame[16..18].copy_from_slice(&(length as u16 - 14).to_be_bytes());
    frame[23] = 17;
    frame[36..38].copy_from_slice(&4000u16.to_be_bytes());
    frame
}
