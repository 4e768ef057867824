//! The element `laxitysink` in pipelines of `gst-launch-1.0`.

use std::net::UdpSocket;
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::languages::{installed, with_library};
use super::program::{is_there, root, succeed};

/// The library and the element.
struct Plugin {
    folder: TempDir,
}

/// A datagram: when it came, how many bytes it has on the link.
type Received = (Instant, u64);

impl Plugin {
    /// `None`, and why, if something for it is missing.
    fn build() -> Option<Plugin> {
        if !is_there("gst-launch-1.0", "--version") || !is_there("pkg-config", "--version") {
            return None;
        }
        let headers = Command::new("pkg-config").args(["--exists", "gstreamer-base-1.0"]).status();
        if !headers.is_ok_and(|status| status.success()) {
            eprintln!("SKIPPED: libgstreamer1.0-dev is not installed");
            return None;
        }
        let folder = installed();
        let mut build = with_library("sh", folder.path());
        build.env("CFLAGS", "-Werror");
        build.arg(root().join("gstreamer/build.sh")).arg(folder.path().join("gst"));
        succeed(&mut build, "");
        Some(Plugin { folder })
    }

    /// A command of GStreamer that knows the element.
    fn command(&self, program: &str) -> Command {
        let mut command = with_library(program, self.folder.path());
        command.env("GST_PLUGIN_PATH", self.folder.path().join("gst"));
        command.env("GST_REGISTRY", self.folder.path().join("registry.bin"));
        command
    }

    /// Runs a pipeline until it has ended.
    fn launch(&self, pipeline: &str) {
        let mut launch = self.command("gst-launch-1.0");
        succeed(launch.arg("-q").args(pipeline.split_whitespace()), "");
    }

    /// What a pipeline that fails says.
    fn complaint(&self, pipeline: &str) -> String {
        let mut launch = self.command("gst-launch-1.0");
        let output = launch.arg("-q").args(pipeline.split_whitespace()).output().unwrap();
        assert!(!output.status.success(), "{pipeline}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }
}

/// A socket, and its port.
fn receiver() -> (UdpSocket, u16) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let port = socket.local_addr().unwrap().port();
    (socket, port)
}

/// Receives for as long as something runs; each datagram is RTP.
fn receive(socket: &UdpSocket, running: impl FnOnce() + Send) -> Vec<Received> {
    std::thread::scope(|scope| {
        let running = scope.spawn(running);
        let (mut received, mut bytes) = (Vec::new(), [0; 2048]);
        loop {
            let is_over = running.is_finished();
            match socket.recv(&mut bytes) {
                Ok(length) => {
                    assert_eq!(bytes[0] >> 6, 2, "a version of RTP");
                    received.push((Instant::now(), length as u64 + 28));
                }
                Err(_) if is_over => return received,
                Err(_) => {}
            }
        }
    })
}

/// The time that datagrams after the first one took, and would take at a rate.
fn times(received: &[Received], rate: f64) -> [f64; 2] {
    let [(first, length), .., (last, _)] = received else { panic!("{received:?}") };
    let bytes: u64 = received.iter().map(|(_, length)| length).sum();
    [(*last - *first).as_secs_f64(), (bytes - length) as f64 * 8.0 / rate]
}

/// As fast as it is made, audio leaves no faster than the rate: ten times as slow as it plays.
#[test]
fn a_pipeline_is_paced() {
    let Some(plugin) = Plugin::build() else { return };
    let (socket, port) = receiver();
    let received = receive(&socket, || {
        plugin.launch(&format!(
            "audiotestsrc num-buffers=400 ! opusenc bitrate-type=cbr ! rtpopuspay ! \
             laxitysink sync=false port={port} rate=1000000 dscp=46"
        ));
    });
    // Blocks of 1024 samples at 48 kHz, in packets of 20 ms.
    assert!((420..=430).contains(&received.len()), "{} packets", received.len());
    let [took, least] = times(&received, 1_000_000.0);
    // What a thread that is late makes up for: 10 ms.
    assert!(took >= least - 0.011, "{took} s for {least} s");
}

#[test]
fn elements_share_a_link_under_a_plan() {
    let Some(plugin) = Plugin::build() else { return };
    let plan = plugin.folder.path().join("plan.toml");
    std::fs::write(
        &plan,
        "version = 1\nlink.rate = '4mbit'\nscheduler.kind = 'priority'\n\
         [class.audio]\nlevel = 0\n[class.video]\nlevel = 1\n",
    )
    .unwrap();
    let [(audio, audio_port), (video, video_port)] = [receiver(), receiver()];
    let shared = format!("laxitysink sync=false link=uplink plan={}", plan.display());
    let pipeline = format!(
        "videotestsrc num-buffers=4 ! video/x-raw,format=RGB,width=320,height=240 ! \
         rtpvrawpay ! {shared} class=video port={video_port} \
         audiotestsrc num-buffers=200 ! opusenc ! rtpopuspay ! \
         {shared} class=audio port={audio_port}"
    );
    let (heard, seen) = std::thread::scope(|scope| {
        let seen = scope.spawn(|| receive(&video, || plugin.launch(&pipeline)));
        let begin = Instant::now();
        let heard = receive(&audio, || {
            while !seen.is_finished() && begin.elapsed() < Duration::from_secs(60) {
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        (heard, seen.join().unwrap())
    });
    assert!(heard.len() > 200 && seen.len() > 600, "{} and {}", heard.len(), seen.len());
    // Four pictures take 1.9 s of the link; audio goes before them as soon as it is there.
    let mut all: Vec<Received> = heard.iter().chain(&seen).copied().collect();
    all.sort();
    let [took, least] = times(&all, 4_000_000.0);
    assert!(took >= least - 0.011, "{took} s for {least} s");
    let ahead = seen.last().unwrap().0 - heard.last().unwrap().0;
    assert!(ahead > Duration::from_millis(500), "audio has ended {ahead:?} before video");
}

/// A pipeline is interrupted while it waits at its end for a link that takes minutes.
#[test]
fn what_waits_is_dropped_when_a_pipeline_is_stopped() {
    let Some(plugin) = Plugin::build() else { return };
    let plan = plugin.folder.path().join("plan.toml");
    // What waits is held back by its class, whatever the rate of the link.
    std::fs::write(
        &plan,
        "version = 1\nlink.rate = '1mbit'\nscheduler.kind = 'hfsc'\n\
         [class.slow]\nlink-share = '16kbit'\nupper-limit = '16kbit'\n",
    )
    .unwrap();
    for link in ["rate=16000".to_string(), format!("plan={} class=slow", plan.display())] {
        let (socket, port) = receiver();
        let pipeline = format!(
            "audiotestsrc num-buffers=1000 ! opusenc ! rtpopuspay ! \
             laxitysink sync=false port={port} {link}"
        );
        let mut launch = plugin.command("gst-launch-1.0");
        let mut launch = launch.arg("-q").args(pipeline.split_whitespace()).spawn().unwrap();
        let received = receive(&socket, || {
            std::thread::sleep(Duration::from_secs(2));
            assert!(launch.try_wait().unwrap().is_none(), "it waits for the link");
            succeed(Command::new("kill").args(["-INT", &launch.id().to_string()]), "");
            let begin = Instant::now();
            launch.wait().unwrap();
            assert!(begin.elapsed() < Duration::from_secs(5), "{link}: {:?}", begin.elapsed());
        });
        assert!((1..100).contains(&received.len()), "{link}: {} packets", received.len());
    }
}

#[test]
fn what_cannot_be_sent_is_said() {
    let Some(plugin) = Plugin::build() else { return };
    let plan = plugin.folder.path().join("plan.toml");
    std::fs::write(&plan, "version = 1\nlink.rate = '1mbit'\nscheduler.kind = 'fifo'\n[class.a]\n")
        .unwrap();
    let plan = plan.display();
    let source = "audiotestsrc num-buffers=9 ! opusenc ! rtpopuspay ! laxitysink";
    let missing = plugin.complaint(&format!("{source} plan=/nowhere.toml"));
    assert!(missing.contains("/nowhere.toml"), "{missing}");
    let class = plugin.complaint(&format!("{source} plan={plan} class=b"));
    assert!(class.contains("class \"b\" is not in"), "{class}");
    let class = plugin.complaint(&format!("{source} class=a"));
    assert!(class.contains("class \"a\" is of no plan"), "{class}");
    for terms in ["deadline=1000000", "expiry=1000000"] {
        let terms = plugin.complaint(&format!("{source} plan={plan} class=a {terms}"));
        assert!(terms.contains("have no effect under a plan"), "{terms}");
    }
    let host = plugin.complaint(&format!("{source} host=no.such.host.invalid"));
    assert!(host.contains("host \"no.such.host.invalid\""), "{host}");
    let other = plugin.complaint(&format!("{source} link=l rate=1000 {source} link=l rate=2000"));
    assert!(other.contains("elements that share it have the same"), "{other}");
    let mut inspect = plugin.command("gst-inspect-1.0");
    let described = succeed(inspect.arg("laxitysink"), "");
    assert!(described.contains("paced, by deadline or by a plan"), "{described}");
}
