//! The server and the receivers in C, compiled and run side by side.

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Both programs, and the folder for files.
pub(crate) struct Stage {
    folder: PathBuf,
}

/// What the receivers of a kind of media have counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) streams: u64,
    pub(crate) in_time: u64,
    pub(crate) late: u64,
    pub(crate) lost: u64,
    pub(crate) windows: u64,
    pub(crate) violated: u64,
    /// Streams with windows that are violated.
    pub(crate) streams_violated: u64,
}

/// What is run.
pub(crate) struct Show<'a> {
    /// Arguments of the server but for ports and receivers.
    pub(crate) server: &'a [&'a str],
    /// The first port, and that of the first receiver who counts.
    pub(crate) port: u16,
    pub(crate) counted_from: u16,
    /// How many receivers the server has, and how many count.
    pub(crate) receivers: u32,
    pub(crate) counted: u32,
}

/// What works, or why not.
pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// The sources and examples of this crate.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

impl Stage {
    /// Compiles both programs into a folder, against a static library.
    pub(crate) fn new(folder: &Path, library: &Path, flags: &[&str]) -> Outcome<Stage> {
        let stage = Stage { folder: folder.to_path_buf() };
        for (program, sources) in [
            ("rtp_server", &["rtp_server.c", "media.c", "opus.c", "h264.c"][..]),
            ("rtp_receivers", &["rtp_receivers.c", "media.c"]),
        ] {
            let mut compile = Command::new(std::env::var("CC").unwrap_or("cc".into()));
            compile.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-I"]);
            compile.arg(root().join("include")).args(flags);
            compile.args(sources.iter().map(|source| root().join("examples/rtp").join(source)));
            compile.arg(library).args(["-lpthread", "-ldl", "-lm", "-o"]);
            succeed(compile.arg(stage.path(program)))?;
        }
        Ok(stage)
    }

    /// A file of the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A tone as `audio.opus`: packets of 160 bytes each 40 ms.
    pub(crate) fn record_audio(&self) -> Outcome<()> {
        let mut record = Command::new("ffmpeg");
        record.args(["-v", "error", "-f", "lavfi", "-i", "sine=frequency=440:duration=2"]);
        record.args(["-c:a", "libopus", "-b:a", "32k", "-vbr", "off", "-frame_duration", "40"]);
        succeed(record.arg("-y").arg(self.path("audio.opus"))).map(|_| ())
    }

    /// What the server prints alone.
    pub(crate) fn serve(&self, arguments: &[&str]) -> Outcome<String> {
        succeed(Command::new(self.path("rtp_server")).current_dir(&self.folder).args(arguments))
    }

    /// Runs the server beside receivers that count. The counts of audio and of video.
    pub(crate) fn run(&self, show: &Show) -> Outcome<[Counted; 2]> {
        let mut receivers = Command::new(self.path("rtp_receivers"));
        receivers.args(["--port", &show.counted_from.to_string()]);
        receivers.args(["--receivers", &show.counted.to_string()]);
        let mut receivers = receivers.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut output = BufReader::new(receivers.stdout.take().ok_or("piped")?);
        let mut input = receivers.stdin.take().ok_or("piped")?;
        let mut ready = String::new();
        output.read_line(&mut ready)?;
        if ready.trim() != "ready" {
            return Err("the receivers are not ready".into());
        }
        let (port, count) = (show.port.to_string(), show.receivers.to_string());
        let ends = ["--port", &port, "--receivers", &count];
        // The receivers end with their input, whatever the server does.
        let served = self.serve(&[show.server, &ends].concat());
        let numbers: Vec<&str> = served.as_deref().map_or(vec![], |served| {
            let words = served.split_whitespace();
            words.filter(|word| word.bytes().all(|byte| byte.is_ascii_digit())).collect()
        });
        let [audio, video, ..] = numbers[..] else { return Err(served.err().unwrap_or("".into())) };
        writeln!(input, "{audio} {video}")?;
        drop(input);
        let mut report = String::new();
        output.read_to_string(&mut report)?;
        if !receivers.wait()?.success() {
            return Err("the receivers failed".into());
        }
        let mut counted = report.lines().map(Counted::read);
        let [Some(audio), Some(video)] = [counted.next(), counted.next()] else {
            return Err("the receivers count nothing".into());
        };
        Ok([audio?, video?])
    }
}

impl Counted {
    /// A line of the receivers: a kind, then names and numbers.
    fn read(line: &str) -> Outcome<Counted> {
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        let mut counted = Counted::default();
        for pair in words.chunks(2) {
            let &[name, number] = pair else { return Err("a name without a number".into()) };
            let place = match name {
                "streams" => &mut counted.streams,
                "in-time" => &mut counted.in_time,
                "late" => &mut counted.late,
                "lost" => &mut counted.lost,
                "windows" => &mut counted.windows,
                "violated" => &mut counted.violated,
                "of-streams" => &mut counted.streams_violated,
                other => return Err(format!("the receivers count {other}").into()),
            };
            *place = number.parse()?;
        }
        Ok(counted)
    }
}

/// A plan beside the sources.
pub(crate) fn plan(name: &str) -> String {
    root().join("examples/rtp").join(name).display().to_string()
}

/// Runs a command; what it prints.
fn succeed(command: &mut Command) -> Outcome<String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?}: {}\n{said}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
