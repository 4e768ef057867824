//! Recordings: which are read, which are refused and how, and that nothing panics.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use laxity::packet::{ClassId, FlowId};
use laxity::units::{Bytes, Nanos};
use laxity_plan::matching::Match;
use laxity_plan::model::{Hops, Overhead, Plan, Recording};
use proptest::prelude::*;

use crate::error::SimError;
use crate::source::tests::testing::{pcap, pcapng, plan, udp};
use crate::source::{Arrival, Arrivals, Remarks, WINDOW, open_recording, read_recording};

fn matching(text: &str) -> Option<Match> {
    Some(text.parse().expect("the tests' matches are sound"))
}

/// Voice on UDP port 4000 and video on 4010; `lost` matches nothing.
pub(super) fn av_plan() -> Plan {
    let mut plan = plan(&["lost", "voice", "video"]);
    plan.classes[1].matching = matching("udp dport 4000");
    plan.classes[2].matching = matching("udp dport 4010");
    plan
}

pub(super) fn open<'a>(file: &'a [u8], plan: &Plan) -> Result<Box<dyn Arrivals + 'a>, SimError> {
    read_recording(file, &recording(None), plan, None)
}

fn recording(filter: Option<Match>) -> Recording {
    Recording { file: "in".into(), path: Hops::default(), filter, sort: false }
}

pub(super) fn all(arrivals: &mut dyn Arrivals) -> Result<Vec<Arrival>, SimError> {
    std::iter::from_fn(|| arrivals.next_arrival().transpose()).collect()
}

pub(super) fn read(file: &[u8], plan: &Plan) -> Result<Vec<Arrival>, SimError> {
    all(&mut *open(file, plan)?)
}

/// All arrivals, and the remarks.
pub(super) fn remarks_of(file: &[u8], plan: &Plan) -> (Vec<Arrival>, Remarks) {
    let mut recording = open(file, plan).unwrap();
    (all(&mut *recording).unwrap(), recording.remarks())
}

pub(super) fn refusal(file: &[u8], plan: &Plan) -> String {
    let error = read(file, plan).expect_err("the recording is refused");
    assert!(error.is_bad_input());
    error.to_string()
}

pub(super) fn arrival(time: u64, class: u32, flow: u32, length: u32) -> Arrival {
    let (time, class, flow) = (Nanos(time), ClassId(class), FlowId(flow));
    Arrival { time, class, flow, length, ..Arrival::default() }
}

#[test]
fn a_csv_has_its_columns_in_any_order() {
    let plan = plan(&["a", "b"]);
    let expected = [arrival(0, 0, 0, 40), arrival(7, 1, 0, 1536), arrival(7, 0, 0, 1)];
    let text = "time_ns,class,length\n0,a,40\n7,b,1536\n7,a,1\n";
    assert_eq!(read(text.as_bytes(), &plan).unwrap(), expected);
    let text = "\u{feff}length, class ,time_ns\r\n40,a,0\r\n1536,\"b\",7\r\n\r\n1, a ,7";
    assert_eq!(read(text.as_bytes(), &plan).unwrap(), expected);
    let text = "flow,time_ns,class,length\n4294967295,5,b,60\n";
    assert_eq!(read(text.as_bytes(), &plan).unwrap(), [arrival(5, 1, u32::MAX, 60)]);
    assert_eq!(read(b"time_ns,class,length\n", &plan).unwrap(), []);
}

#[test]
fn a_wrong_line_of_a_csv_is_named_with_what_is_accepted() {
    let mut plan = plan(&["voice", "ftp"]);
    plan.classes[0].arrival = Some(crate::source::tests::testing::tspec(300, 1, 100, 1));
    let cases = [
        ("5,voice\n", "2 fields under 3 columns"),
        ("5,voice,100,1\n", "4 fields under 3 columns"),
        (
            "-5,voice,100\n",
            "`-5` is not a time_ns: write a whole number of nanoseconds, at most 31 years",
        ),
        (
            "99999999999999999999,voice,100\n",
            "`99999999999999999999` is not a time_ns: write a whole number of nanoseconds, at most 31 years",
        ),
        (
            "2,voice,100\n",
            "time_ns 2 is before 3 on the line before: sort the arrivals by time, or have them sorted by `--sort`, or by `sort = true` in the plan's source",
        ),
        ("5,vioce,100\n", "the plan has no class `vioce`: its classes are voice, ftp"),
        ("5,voice,1e2\n", "`1e2` is not a length: write a whole number of bytes"),
        ("5,voice,\n", "`` is not a length: write a whole number of bytes"),
        (
            "5,voice,0\n",
            "length 0 of a packet of class `voice` is out of range: from 1 to 100 bytes are accepted, `packet` or the link's `max-packet` sets the limit",
        ),
        (
            "5,ftp,1537\n",
            "length 1537 of a packet of class `ftp` is out of range: from 1 to 1536 bytes are accepted, `packet` or the link's `max-packet` sets the limit",
        ),
    ];
    for (line, expected) in cases {
        let text = format!("time_ns,class,length\n3,voice,100\n{line}");
        assert_eq!(refusal(text.as_bytes(), &plan), format!("in:3: {expected}"));
    }
    let accepted =
        "the header must name `time_ns`, `class`, `length` and may name `flow` and `ecn`";
    let cases = [
        ("time_ns,class\n", format!("there is no column `length`: {accepted}")),
        ("time_ns,class,size\n", format!("column `size` is unknown: {accepted}")),
        ("0,voice,100\n", format!("column `0` is unknown: {accepted}")),
        ("class,time_ns,class\n", "column `class` appears twice".into()),
    ];
    for (header, expected) in cases {
        assert_eq!(refusal(header.as_bytes(), &plan), format!("in:1: {expected}"));
    }
    let flow = "time_ns,class,length,flow\n3,voice,100,4294967296\n";
    assert!(refusal(flow.as_bytes(), &plan).contains("is not a flow"));
}

#[test]
fn a_csv_may_be_as_long_as_it_likes() {
    let rows: String = (0..50_000).map(|time| format!("{time},a,40\n")).collect();
    let arrivals = read(format!("time_ns,class,length\n{rows}").as_bytes(), &plan(&["a"])).unwrap();
    assert_eq!(arrivals.len(), 50_000);
    assert_eq!(arrivals[49_999], arrival(49_999, 0, 0, 40));
}

/// A reader that never ends, so that a test that passes has bounded memory.
#[test]
fn a_line_without_end_is_refused() {
    let expected = "in:2: the line is longer than 65.536kB";
    for filling in [b'a', b'"', b','] {
        let file = b"time_ns,class,length\n\"".chain(std::io::repeat(filling));
        let mut endless = read_recording(file, &recording(None), &plan(&["a"]), None).unwrap();
        assert_eq!(endless.next_arrival().unwrap_err().to_string(), expected);
    }
}

#[test]
fn captures_give_original_lengths_and_times_since_the_first_frame() {
    let (voice, video, other) = (udp(1, 4000), udp(2, 4010), udp(3, 53));
    let other_voice = udp(9, 4000);
    let expected =
        [arrival(1, 1, 0, 214), arrival(2, 2, 0, 1400), arrival(1_000_000_000, 1, 1, 60)];
    let second = 1_000_000_000;
    let frames: [(u64, u32, &[u8]); 4] = [
        (7 * second, 80, &other),
        (7 * second + 1, 214, &voice),
        (7 * second + 2, 1400, &video),
        (8 * second, 60, &other_voice),
    ];
    for file in [pcap(1, &frames), pcapng(9, &frames)] {
        let mut recording = open(&file, &av_plan()).unwrap();
        assert_eq!(all(&mut *recording).unwrap(), expected);
        assert_eq!(recording.remarks(), Remarks { unmatched: 1, ..Remarks::default() });
        let filter = matching("udp dport 4010");
        let mut filtered =
            read_recording(&*file, &self::recording(filter), &av_plan(), None).unwrap();
        assert_eq!(all(&mut *filtered).unwrap(), [expected[1]]);
        assert_eq!(filtered.remarks(), Remarks::default());
    }
}

/// Cells on the way of 214 bytes with 18 more are five, and of 60 bytes two; without Ethernet's
/// header a packet counts as if it had one.
#[test]
fn what_the_link_adds_counts() {
    let mut plan = av_plan();
    let named = Overhead::NAMED.iter().find(|(name, _)| *name == "pppoe-vcmux");
    plan.link.overhead = named.unwrap().1;
    let voice = udp(1, 4000);
    let frames: [(u64, u32, &[u8]); 2] = [(0, 214, &voice), (1, 60, &voice)];
    let expected = [arrival(0, 1, 0, 5 * 53), arrival(1, 1, 0, 2 * 53)];
    assert_eq!(read(&pcap(1, &frames), &plan).unwrap(), expected);
    let frames: [(u64, u32, &[u8]); 2] = [(0, 200, &voice[14..]), (1, 46, &voice[14..])];
    assert_eq!(read(&pcap(101, &frames), &plan).unwrap(), expected);
}

#[test]
fn frames_out_of_order_are_put_in_order_and_counted() {
    let voice = udp(1, 4000);
    let file =
        pcap(1, &[(50, 100, &voice), (90, 101, &voice), (80, 102, &voice), (40, 103, &voice)]);
    let mut recording = open(&file, &av_plan()).unwrap();
    let arrivals = all(&mut *recording).unwrap();
    let seen: Vec<_> = arrivals.iter().map(|a| (a.time.0, a.length)).collect();
    assert_eq!(seen, [(0, 103), (10, 100), (40, 102), (50, 101)]);
    assert_eq!(
        recording.remarks(),
        Remarks { reordered: 2, furthest: Nanos(50), ..Remarks::default() }
    );
}

#[test]
fn a_clock_that_steps_back_is_refused_with_both_stamps() {
    let voice = udp(1, 4000);
    let second = 1_000_000_000;
    let frames: Vec<(u64, u32, &[u8])> =
        [1, 2, 7, 9, 4].iter().map(|at| (at * second, 100, &*voice)).collect();
    let expected = "in: frame 5: it is stamped 4.000000000 s, and a frame before it 9.000000000 s, 5s later: frames are put in order within 100ms (and 262144 packets), so the clock stepped back; if all times are right, have the recording sorted by `--sort`, or by `sort = true` in the plan's source; if not, cut it before this frame, for example with `editcap -r`";
    for file in [pcap(1, &frames), pcapng(9, &frames)] {
        assert_eq!(refusal(&file, &av_plan()), expected);
    }
}

#[test]
fn damaged_captures_are_refused_with_the_frame() {
    let (voice, plan) = (udp(1, 4000), av_plan());
    let frames: [(u64, u32, &[u8]); 2] = [(0, 100, &voice), (1, 100, &voice)];
    let file = pcap(1, &frames);
    let cut = "in: frame 1: the file ends in the middle of it, and no frame before it is whole: record anew";
    assert_eq!(refusal(&file[..24 + 16 + 5], &plan), cut);
    assert_eq!(refusal(&file[..24 + 9], &plan), cut);
    assert_eq!(refusal(&file[..20], &plan), "in: the capture's header is cut off");

    let mut huge = file.clone();
    huge[24 + 8..24 + 12].copy_from_slice(&[0xff; 4]);
    let expected = "in: frame 1: it claims to hold 4294967295 bytes, more than the 262144 of any capture: the file is damaged";
    assert_eq!(refusal(&huge, &plan), expected);

    let long = pcap(1, &[(0, 1537, &voice)]);
    let expected = "in: frame 1: a frame of 1537 bytes is over the 1536 bytes of class `voice`: raise `packet` or the link's `max-packet`, or record with segmentation offload turned off (`ethtool -K IF tso off gso off gro off`)";
    assert_eq!(refusal(&long, &plan), expected);
    assert!(refusal(&pcap(1, &[(0, 0, &[])]), &plan).contains("original length is 0 bytes"));
    assert!(refusal(&pcap(1, &[(0, 41, &voice)]), &plan).contains("more bytes than its original"));
    let late = pcap(1, &[(0, 100, &voice), (1_000_000_001_000_000_000, 100, &voice)]);
    assert!(refusal(&late, &plan).contains("frame 2: it is stamped more than 1000000000 s from"));
}

#[test]
fn foreign_files_are_refused_by_what_they_are() {
    let plan = av_plan();
    let accepted = "give a pcap or pcapng capture, or a CSV `time_ns,class,length[,flow]`";
    assert_eq!(refusal(b"", &plan), format!("in: the file is empty: {accepted}"));
    let expected =
        format!("in: this is a gzip file (unpack it first), not a recording: {accepted}");
    assert_eq!(refusal(&[0x1f, 0x8b, 8, 0], &plan), expected);
    let expected = format!("in: this is a binary file, not a recording: {accepted}");
    assert_eq!(refusal(b"\x7fELF\x02\x01\x01\0", &plan), expected);
    assert!(refusal(b"{\"json\": true}", &plan).starts_with("in:1: column `{\"json\": true}` is"));
    let filter = matching("udp dport 4000");
    let csv = read_recording(&b"time_ns,class,length\n"[..], &recording(filter), &plan, None);
    assert!(csv.err().unwrap().to_string().contains("leave `match` out"));
}

fn at(path: impl Into<PathBuf>) -> Recording {
    Recording { file: path.into(), ..recording(None) }
}

#[test]
fn a_file_that_is_not_there_is_a_wrong_name_and_one_that_is_forbidden_is_not() {
    let missing = open_recording(&at("/nowhere/at/all"), &av_plan(), None).err().unwrap();
    assert!(missing.is_bad_input());
    assert!(missing.to_string().starts_with("/nowhere/at/all: "));
    let source = ErrorKind::PermissionDenied.into();
    assert!(!SimError::System { path: "in".into(), source }.is_bad_input());
    // A folder opens, but cannot be read.
    assert!(open_recording(&at("/"), &av_plan(), None).err().unwrap().is_bad_input());
}

#[test]
fn the_home_uplink_is_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/home-uplink.pcap");
    let mut plan = plan(&["audio", "video", "upload", "web", "ping"]);
    plan.link.max_packet = Bytes(1514);
    let matches = ["udp dport 4000", "udp dport 4010", "tcp dport 5201", "tcp sport 8080", "icmp"];
    for (class, text) in plan.classes.iter_mut().zip(matches) {
        class.matching = matching(text);
    }
    let mut recording = open_recording(&at(path), &plan, None).unwrap();
    let arrivals = all(&mut *recording).unwrap();
    assert!(arrivals.is_sorted_by_key(|arrival| arrival.time));
    let of = |class| arrivals.iter().filter(move |arrival| arrival.class == ClassId(class));
    let counts: Vec<usize> = (0..5).map(|class| of(class).count()).collect();
    // As tshark counts them.
    assert_eq!(counts, [1094, 5355, 7025, 2250, 200]);
    let uploaded: u64 = of(2).map(|arrival| u64::from(arrival.length)).sum();
    let flows = of(3).map(|arrival| arrival.flow).collect::<std::collections::HashSet<_>>();
    assert_eq!((uploaded, flows.len()), (10_556_705, 56));
    let remarks = recording.remarks();
    assert_eq!((remarks.unmatched, remarks.reordered), (5964, 1));
    assert!(remarks.furthest < WINDOW, "{}", remarks.furthest);
}

fn csv_text() -> Vec<u8> {
    b"time_ns,class,length,flow\n0,voice,100,1\n5,\"video\",1400,2\n9,lost,40,3\n".to_vec()
}

fn recordings() -> [Vec<u8>; 3] {
    let (voice, video) = (udp(1, 4000), udp(2, 4010));
    let frames: [(u64, u32, &[u8]); 3] = [(5, 100, &voice), (7, 1400, &video), (9, 90, &voice)];
    [pcap(1, &frames), pcapng(6, &frames), csv_text()]
}

/// A capture of packets of either class, told apart by their lengths, with frames of none between.
fn captured(stamps: &[u64]) -> Vec<u8> {
    let kinds = [udp(1, 4000), udp(2, 4010), udp(3, 53)];
    let frames: Vec<(u64, u32, &[u8])> = stamps
        .iter()
        .map(|&stamp| (stamp, 60 + (stamp % 1000) as u32, &*kinds[stamp as usize % 3]))
        .collect();
    pcap(1, &frames)
}

proptest! {
    #[test]
    fn what_lies_within_the_window_arrives_as_if_it_had_been_in_order(
        gaps in prop::collection::vec(1u64..40_000_000, 1..200),
        late in prop::collection::vec(0..=WINDOW.0, 200),
    ) {
        let stamps: Vec<u64> = gaps.iter().scan(1, |now, gap| { *now += gap; Some(*now) }).collect();
        // Each frame is written as late as its queue is: all within the window of one another.
        let mut written: Vec<_> = stamps.iter().zip(&late).map(|(at, late)| (at + late, *at)).collect();
        written.sort();
        let written: Vec<u64> = written.into_iter().map(|(_, stamp)| stamp).collect();
        let expected = read(&captured(&stamps), &av_plan()).unwrap();
        let shuffled = captured(&written);
        let mut recording = open(&shuffled, &av_plan()).unwrap();
        prop_assert_eq!(all(&mut *recording).unwrap(), expected);

        let newest_before = written.iter().scan(0, |newest, &at| {
            Some(std::mem::replace(newest, at.max(*newest)))
        });
        let behind = written.iter().zip(newest_before).map(|(&at, newest)| newest.saturating_sub(at));
        let behind: Vec<u64> = behind.filter(|behind| *behind > 0).collect();
        let remarks = recording.remarks();
        prop_assert_eq!(remarks.reordered, behind.len() as u64);
        prop_assert_eq!(remarks.furthest.0, behind.into_iter().max().unwrap_or(0));
    }

    #[test]
    fn what_is_shuffled_beyond_it_is_refused_unless_it_is_sorted(
        stamps in prop::collection::btree_set(0u64..10_000_000_000, 2..100), seed in any::<u64>(),
    ) {
        let stamps: Vec<u64> = stamps.into_iter().collect();
        let mut shuffled = stamps.clone();
        shuffled.sort_by_key(|stamp| stamp.wrapping_mul(seed | 1).rotate_left(31));
        let steps = shuffled.iter().scan(0, |newest, &at| {
            *newest = at.max(*newest);
            Some(*newest - at)
        });
        let first_step = steps.enumerate().find(|(_, behind)| *behind > WINDOW.0);
        let file = captured(&shuffled);
        let expected = read(&captured(&stamps), &av_plan()).unwrap();
        match first_step {
            None => prop_assert_eq!(&read(&file, &av_plan()).unwrap(), &expected),
            Some((at, _)) => {
                let told = refusal(&file, &av_plan());
                prop_assert!(told.starts_with(&format!("in: frame {}: it is stamped", at + 1)), "{}", told);
            }
        }
        let sorted = Recording { sort: true, ..recording(None) };
        let mut sorted = read_recording(&*file, &sorted, &av_plan(), None).unwrap();
        prop_assert_eq!(all(&mut *sorted).unwrap(), expected);

        let rows = |stamps: &[u64]| -> String {
            let rows = stamps.iter().map(|at| format!("{at},voice,{}\n", 1 + at % 99));
            format!("time_ns,class,length\n{}", rows.collect::<String>())
        };
        let (csv, in_order) = (rows(&shuffled), rows(&stamps));
        let sorted = Recording { sort: true, ..recording(None) };
        let mut sorted = read_recording(csv.as_bytes(), &sorted, &av_plan(), None).unwrap();
        prop_assert_eq!(all(&mut *sorted).unwrap(), read(in_order.as_bytes(), &av_plan()).unwrap());
        prop_assert_eq!(read(csv.as_bytes(), &av_plan()).is_ok(), shuffled.is_sorted());
    }

    #[test]
    fn random_bytes_never_panic(
        kind in 0..4usize, head in 0..120usize, bytes in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let plan = av_plan();
        let _ = read(&bytes, &plan);
        if let Some(recording) = recordings().get(kind) {
            let _ = read(&[&recording[..head.min(recording.len())], &bytes].concat(), &plan);
        }
    }

    #[test]
    fn damage_never_panics(
        kind in 0..3usize, cut in any::<prop::sample::Index>(),
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
    ) {
        let mut recording = recordings()[kind].clone();
        for (at, byte) in hits {
            let at = at.index(recording.len());
            recording[at] = byte;
        }
        let _ = read(&recording, &av_plan());
        let _ = read(&recording[..cut.index(recording.len())], &av_plan());
    }
}

/// `cargo test --release -p laxity-sim cost_of -- --ignored --nocapture`
#[test]
#[ignore = "measures and prints, tests nothing"]
fn cost_of_a_record() {
    let voice = udp(1, 4000);
    let frames: Vec<(u64, u32, &[u8])> = (0..1_000_000).map(|t| (t * 1000, 100, &*voice)).collect();
    let rows =
        (0..1_000_000).map(|t| format!("{},{},{}\n", t * 1000, ["voice", "video"][t % 2], 100));
    let csv = format!("time_ns,class,length\n{}", rows.collect::<String>()).into_bytes();
    for (name, file) in [("pcap", pcap(1, &frames)), ("pcapng", pcapng(9, &frames)), ("csv", csv)] {
        let begin = std::time::Instant::now();
        let count = read(&file, &av_plan()).unwrap().len() as u32;
        println!("{name}: {:?} a record", begin.elapsed() / count);
    }
}
