//! The server of RTP in C: what ffmpeg receives of it, and what 500 receivers in C count.

use std::net::UdpSocket;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::program::{is_there, libraries, succeed};

#[path = "../../examples/rtp/stage.rs"]
mod stage;

use stage::{Show, Stage, plan};

/// One show at a time: they keep a machine busy.
static TURN: Mutex<()> = Mutex::new(());

const RECEIVERS: u32 = 500;

fn stage(folder: &Path) -> Stage {
    let flags = ["-g", "-pedantic", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    Stage::new(folder, &libraries().join("liblaxity_c.a"), &flags).expect("it compiles")
}

/// Ports below those that the system gives out, others than those of another process.
fn first_port() -> u16 {
    12_000 + 2_004 * (std::process::id() % 10) as u16
}

/// 90 pictures, 15 a second, as `video.h264`.
fn record_video(stage: &Stage) {
    let mut record = Command::new("ffmpeg");
    record.args(["-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=15:duration=6"]);
    record.args(["-c:v", "libx264", "-bf", "0", "-g", "30", "-b:v", "150k", "-pix_fmt", "yuv420p"]);
    succeed(record.arg(stage.path("video.h264")), "");
}

/// Waits until somebody receives at a port.
fn wait_for(port: u16) {
    let place = format!(":{port:04X} ");
    let begin = Instant::now();
    while !std::fs::read_to_string("/proc/net/udp").unwrap().contains(&place) {
        assert!(begin.elapsed() < Duration::from_secs(20), "nobody receives at {port}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The hashes of a stream's frames, in the form that ffmpeg calls `framemd5`.
fn hashes(frames: &str, stream: &str) -> Vec<String> {
    let of_stream = frames.lines().filter(|line| line.starts_with(stream));
    of_stream.map(|line| line.rsplit(' ').next().unwrap().to_string()).collect()
}

/// Decodes what comes, for this many seconds.
fn receiver(folder: &Path, seconds: &str) -> Child {
    let mut command = Command::new("ffmpeg");
    command.args(["-v", "warning", "-protocol_whitelist", "file,udp,rtp", "-i", "all.sdp"]);
    command.args(["-t", seconds, "-map", "0:a", "-map", "0:v", "-f", "framemd5", "-"]);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped());
    command.stderr(Stdio::piped()).spawn().expect("it is there")
}

#[test]
fn ffmpeg_decodes_one_stream_of_the_server_while_500_receivers_count_theirs() {
    if !is_there("ffmpeg", "-version") {
        return;
    }
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let stage = stage(folder.path());
    stage.record_audio().unwrap();
    record_video(&stage);
    let mut decode = Command::new("ffmpeg");
    decode.args(["-v", "error", "-i"]).arg(stage.path("video.h264"));
    let whole = hashes(&succeed(decode.args(["-f", "framemd5", "-"]), ""), "0,");
    assert_eq!(whole.len(), 90);

    let port = first_port();
    let files = ["--audio", "audio.opus", "--video", "video.h264", "--fps", "15"];
    let description =
        stage.serve(&[&files[..], &["--sdp", "1", "--port", &port.to_string()]].concat());
    std::fs::write(stage.path("all.sdp"), description.unwrap()).unwrap();
    let ffmpeg = receiver(folder.path(), "3");
    wait_for(port);
    wait_for(port + 2);
    // Nothing expires, however busy the machine is.
    let paced =
        ["--seconds", "5", "--rate", "300000000", "--audio-due", "30000", "--video-due", "40000"];
    let show = Show {
        server: &[&files[..], &paced].concat(),
        port,
        counted_from: port + 4,
        receivers: RECEIVERS + 1,
        counted: RECEIVERS,
    };
    let [audio, video] = stage.run(&show).unwrap();
    let output = ffmpeg.wait_with_output().unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && complaints.is_empty(), "{complaints}");
    let frames = String::from_utf8(output.stdout).unwrap();
    let (heard, seen) = (hashes(&frames, "0,").len(), hashes(&frames, "1,"));
    assert!((60..=80).contains(&heard), "{heard} frames of audio in 3 s");
    assert!((40..=46).contains(&seen.len()), "{} pictures in 3 s", seen.len());
    assert_eq!(seen, whole[..seen.len()]);

    for (kind, least) in [(audio, 125), (video, 75)] {
        assert_eq!((kind.streams, kind.late, kind.lost), (RECEIVERS.into(), 0, 0), "{kind:?}");
        assert!(kind.in_time >= u64::from(RECEIVERS) * least, "{kind:?}");
    }
}

/// The NAL units of payloads by RFC 6184: single ones, and fragments (FU-A) of others.
fn reassembled(payloads: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let (mut units, mut fragment): (Vec<Vec<u8>>, Option<Vec<u8>>) = (vec![], None);
    for payload in payloads {
        if payload[0] & 31 != 28 {
            assert!(fragment.is_none(), "a fragment has no end");
            units.push(payload.clone());
            continue;
        }
        let (is_first, is_last) = (payload[1] & 0x80 != 0, payload[1] & 0x40 != 0);
        assert_eq!(is_first, fragment.is_none());
        let unit = fragment.get_or_insert(vec![payload[0] & 0xe0 | payload[1] & 31]);
        unit.extend(&payload[2..]);
        if is_last {
            units.extend(fragment.take());
        }
    }
    units
}

/// Those of a file by Annex B of H.264.
fn units_of_file(bytes: &[u8]) -> Vec<Vec<u8>> {
    let starts = |at: &usize| bytes[*at..].starts_with(&[0, 0, 1]);
    let starts: Vec<usize> = (0..bytes.len()).filter(starts).collect();
    let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
    let unit = |(start, end): (&usize, usize)| {
        let unit = &bytes[start + 3..end];
        unit[..unit.iter().rposition(|byte| *byte != 0).unwrap() + 1].to_vec()
    };
    starts.iter().zip(ends).map(unit).collect()
}

#[test]
fn what_is_sent_is_what_is_in_the_file_in_the_form_of_the_rfc() {
    if !is_there("ffmpeg", "-version") {
        return;
    }
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let stage = stage(folder.path());
    record_video(&stage);
    let recorded = std::fs::read(stage.path("video.h264")).unwrap();
    // A start code at the end of a file has no unit.
    std::fs::write(stage.path("video.h264"), [&recorded[..], &[0, 0, 1]].concat()).unwrap();
    let port = first_port();
    let receiver = UdpSocket::bind(("127.0.0.1", port + 2)).unwrap();
    receiver.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    // 90 pictures last for six seconds.
    let asked = ["--video", "video.h264", "--fps", "15", "--seconds", "6", "--video-due", "9000"];
    let (mut payloads, mut pictures, mut bytes) = (Vec::new(), 0, [0; 2048]);
    std::thread::scope(|scope| {
        let serving = scope
            .spawn(|| stage.serve(&[&asked[..], &["--port", &port.to_string()]].concat()).unwrap());
        loop {
            let is_over = serving.is_finished();
            let Ok(length) = receiver.recv(&mut bytes) else {
                if is_over {
                    break;
                }
                continue;
            };
            let (header, payload) = bytes[..length].split_at(28);
            let number =
                |from: usize| u32::from_be_bytes(header[from..from + 4].try_into().unwrap());
            assert_eq!((header[0], header[1] & 0x7f), (0x90, 97));
            assert_eq!(number(0) & 0xffff, payloads.len() as u32, "none is missing");
            assert_eq!(number(4), pictures * 6000, "a picture each fifteenth of a second");
            assert_eq!((number(8), number(12)), (1, 0xbede_0003));
            assert!(payload.len() <= 1200);
            payloads.push(payload.to_vec());
            let is_last = header[1] >> 7 == 1;
            let unit = if payload[0] & 31 == 28 { payload[1] } else { payload[0] };
            assert!(!is_last || (1..=5).contains(&(unit & 31)), "a picture ends with a slice");
            pictures += u32::from(is_last);
        }
    });
    assert_eq!(pictures, 90);
    let units = units_of_file(&recorded);
    assert!(units.iter().any(|unit| unit.len() > 1200), "none was cut");
    assert!(reassembled(&payloads) == units);
}

#[test]
fn windows_of_500_streams_are_kept_by_dwcs_and_not_first_in_first_out() {
    if !is_there("ffmpeg", "-version") {
        return;
    }
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let stage = stage(folder.path());
    stage.record_audio().unwrap();
    let count = |plan_name, seed| {
        let path = plan(plan_name);
        let server = [
            "--audio",
            "audio.opus",
            "--seconds",
            "4",
            "--plan",
            &path,
            "--seed",
            seed,
            "--catch-up",
            "40",
        ];
        let (port, receivers) = (first_port(), RECEIVERS);
        let show =
            Show { server: &server, port, counted_from: port, receivers, counted: receivers };
        let [audio, _] = stage.run(&show).unwrap();
        assert_eq!(audio.windows, 500 * 25);
        // A tenth of the link is what a busy machine may lose.
        assert!(audio.lost + audio.late >= 500 * 100 / 10, "{audio:?}");
        audio.violated
    };
    for seed in ["0", "1"] {
        let [dwcs, fifo] = ["dwcs.toml", "fifo.toml"].map(|plan_name| count(plan_name, seed));
        // What the machine does not run in time is lost to both.
        assert!(dwcs < 500 && dwcs * 4 < fifo, "seed {seed}: {dwcs} windows, and {fifo}");
    }
}

#[test]
fn what_is_no_media_is_refused_with_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let stage = stage(folder.path());
    let refused = |name: &str, bytes: &[u8]| {
        std::fs::write(stage.path(name), bytes).unwrap();
        let option = if name.ends_with("opus") { "--audio" } else { "--video" };
        stage.serve(&[option, name, "--sdp", "1"]).unwrap_err().to_string()
    };
    let mut page = b"OggS\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x08OpusHead".to_vec();
    assert!(refused("headers.opus", &page).contains("headers.opus: it has no packet of Opus"));
    page[35] = b'?';
    assert!(refused("other.opus", &page).contains("other.opus: its first packet is no OpusHead"));
    assert!(refused("cut.opus", &page[..34]).contains("cut.opus: a page is cut off"));
    assert!(refused("short.opus", b"Ogg").contains("short.opus: a page is cut off"));
    assert!(refused("text.h264", b"no video").contains("text.h264: it has no picture"));
    assert!(stage.serve(&["--port"]).unwrap_err().to_string().contains("the options are"));
    let mut receivers = Command::new(stage.path("rtp_receivers"));
    let file = std::fs::File::open(stage.path("text.h264")).unwrap();
    let output = receivers.args(["--port", "11000"]).stdin(file).output().unwrap();
    assert!(!output.status.success() && output.stdout.is_empty());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("input: it cannot be waited for"), "{said}");
    assert!(stage.serve(&["--audio", "x"]).unwrap_err().to_string().contains("cannot be opened"));
}
