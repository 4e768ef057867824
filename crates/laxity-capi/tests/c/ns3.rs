//! The module for ns-3, built by its own Makefile: what is simulated there is what is simulated
//! here.

use std::collections::VecDeque;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use laxity::packet::{ClassId, Ecn, FlowId, Packet};
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::discipline::Kind;
use laxity_plan::model::{Hop, SchedulerSpec};
use laxity_sim::error::SimError;
use laxity_sim::link::Run;
use laxity_sim::record::{Fate, Observer, Record};
use laxity_sim::source::{Arrival, Arrivals, Feed};
use laxity_sim::to_the_end;

use super::program::{is_there, libraries, root, succeed};
use super::replay::{QUEUES, arrivals, plan_text};

/// Plans of one link, under their own disciplines and others; one of them has a rate that varies.
const EXAMPLES: [(&str, u64); 5] = [
    ("gateway", 1_000_000_000),
    ("gps-over-edf", 1_000_000_000),
    ("home-uplink", 1_000_000_000),
    ("lte-uplink", 3_000_000_000),
    ("media-server", 5_000_000),
];

/// Whether ns-3 is there; says so if not.
fn has_ns3() -> bool {
    is_there("make", "--version") && is_there("pkg-config", "--version") && {
        let found = Command::new("pkg-config").args(["--exists", "ns3-core"]).status();
        let is_there = found.is_ok_and(|status| status.success());
        if !is_there {
            eprintln!("SKIPPED: ns-3 is not installed (Debian's package libns3-dev)");
        }
        is_there
    }
}

/// The module's programs, which its Makefile makes once for all tests; none without ns-3.
fn module() -> Option<&'static Module> {
    static MODULE: OnceLock<Option<Module>> = OnceLock::new();
    MODULE.get_or_init(|| has_ns3().then(Module::build)).as_ref()
}

struct Module {
    folder: PathBuf,
}

impl Module {
    fn build() -> Module {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ns-3");
        // What was built against an earlier library is not used again.
        let _ = std::fs::remove_dir_all(&folder);
        let mut make = Command::new("make");
        make.args(["-j2", "CXXFLAGS=-O1 -Wall -Wextra -Werror", "-C"]).arg(source());
        let include = root().join("include");
        let library = libraries().join("liblaxity_c.a");
        make.arg(format!("BUILD={}", folder.display()));
        make.arg(format!("LAXITY_CFLAGS=-I{}", include.display()));
        make.arg(format!("LAXITY_LIBS={} -lpthread -ldl -lm", library.display()));
        succeed(make.arg("all").arg(folder.join("test/laxity-test-suite")), "");
        Module { folder }
    }

    fn program(&self, name: &str) -> Command {
        Command::new(self.folder.join(name))
    }
}

fn repository() -> PathBuf {
    root().join("../..")
}

fn source() -> PathBuf {
    repository().join("contrib/ns-3/laxity")
}

/// What came to a link of the simulator, and what became of it, by the number of its arrival.
#[derive(Default)]
struct Recorder {
    arrivals: Vec<Packet>,
    fates: Vec<(u64, Fate, Ecn)>,
}

impl Observer for Recorder {
    fn arrived(&mut self, packet: &Packet, _: Option<Hop>) {
        assert_eq!(packet.handle, self.arrivals.len() as u64, "handles are numbers of arrivals");
        self.arrivals.push(*packet);
    }

    fn record(&mut self, record: &Record) {
        self.fates.push((record.packet.handle, record.fate, record.packet.ecn));
    }
}

/// Arrivals that come whatever happens to those before them.
struct Recorded(VecDeque<Arrival>);

impl Arrivals for Recorded {
    fn next_arrival(&mut self) -> Result<Option<Arrival>, SimError> {
        Ok(self.0.pop_front())
    }
}

fn bits(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotCapable => 0,
        Ecn::L4s => 1,
        Ecn::Capable => 2,
        Ecn::Experienced => 3,
    }
}

impl Recorder {
    /// What a plan's own sources send.
    fn traffic(plan: &Plan, seed: u64, duration: u64) -> Vec<Arrival> {
        let mut recorder = Recorder::default();
        let run = Run { plan, duration: Some(Nanos(duration)), seed, feeds: Vec::new() };
        let run = run.with_sources().expect("its sources are there");
        run.simulate(&mut recorder, &mut to_the_end).expect("it ends");
        let arrival = |&Packet { arrival: time, class, flow, length, ecn, .. }: &Packet| Arrival {
            time,
            class,
            flow,
            length,
            ecn,
            ..Arrival::default()
        };
        recorder.arrivals.iter().map(arrival).collect()
    }

    /// A plan with given arrivals.
    fn simulate(plan: &Plan, seed: u64, traffic: &[Arrival]) -> Recorder {
        let mut recorder = Recorder::default();
        let feeds = vec![Feed::new(Box::new(Recorded(traffic.to_vec().into())))];
        let run = Run { plan, duration: None, seed, feeds };
        run.simulate(&mut recorder, &mut to_the_end).expect("it ends");
        recorder
    }

    /// The arrivals as `laxity-replay` reads them.
    fn input(&self) -> String {
        let mut input = String::new();
        for Packet { arrival, class, flow, length, ecn, .. } in &self.arrivals {
            let ecn = bits(*ecn);
            writeln!(input, "{} {} {} {length} {ecn}", arrival.0, class.0, flow.0).unwrap();
        }
        input
    }

    /// The fates as `laxity-replay` writes them, in the order of arrival.
    fn expected(&self) -> Vec<String> {
        let mut fates = self.fates.clone();
        fates.sort_by_key(|(number, ..)| *number);
        let line = |(number, fate, ecn): (u64, Fate, Ecn)| match fate {
            Fate::Sent { start, departure } => {
                let (at, until, ecn) = (start.0, departure.0, bits(ecn));
                format!("send {number} at {at} until {until} ecn {ecn}")
            }
            Fate::Dropped(reason) => format!("drop {number} {}", reason.name()),
            Fate::Queued => format!("queued {number}"),
        };
        fates.into_iter().map(line).collect()
    }
}

/// What `laxity-replay` wrote, in the order of arrival, and by how much its device began later than
/// the queue disc chose, at most.
fn replayed(output: &str) -> (Vec<String>, u64) {
    let mut lines = Vec::new();
    let mut latest = 0;
    for line in output.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number: u64 = words[1].parse().expect("a number");
        let line = if words[0] == "send" {
            let time = |place: usize| words[place].parse::<u64>().expect("a time");
            latest = latest.max(time(5) - time(3));
            [&words[..4], &words[6..]].concat().join(" ")
        } else {
            line.to_string()
        };
        lines.push((number, line));
    }
    lines.sort_by_key(|(number, _)| *number);
    (lines.into_iter().map(|(_, line)| line).collect(), latest)
}

/// Bursts at a link that is full most of the time, of flows with all bits of ECN.
fn drawn(seed: u64) -> Vec<Arrival> {
    let arrival = |(time, class, flow, length, ecn)| Arrival {
        time: Nanos(time),
        class: ClassId(class % 4),
        flow: FlowId(flow),
        length,
        ecn: [Ecn::NotCapable, Ecn::L4s, Ecn::Capable, Ecn::Experienced][usize::from(ecn)],
        ..Arrival::default()
    };
    arrivals(seed).into_iter().map(arrival).collect()
}

/// A plan under every discipline that takes it, but for time-driven priority, which is there in
/// networks only.
fn disciplines(text: &str, folder: &Path) -> Vec<Plan> {
    let specs = SchedulerSpec::defaults().filter(|spec| spec.kind() != Kind::Tdp);
    let under = |spec: SchedulerSpec| {
        let plan = Plan::parse_for(text, "plan.toml", folder, &[spec.kind()]).ok()?;
        plan.under(spec.name()).ok()
    };
    specs.filter_map(under).collect()
}

/// A scenario in both simulators, over a device of some rate; returns how many packets were sent,
/// and by how much the device began later than the queue disc chose.
fn compare(
    module: &Module,
    (path, plan): (&Path, &Plan),
    rate: u64,
    seed: u64,
    traffic: &[Arrival],
) -> (u64, u64) {
    let recorder = Recorder::simulate(plan, seed, traffic);
    let name = plan.scheduler.name();
    let mut replay = module.program("test/laxity-replay");
    replay.arg(path).args([name, &seed.to_string(), &format!("{rate}bps")]);
    let (replayed, late) = replayed(&succeed(&mut replay, &recorder.input()));
    let expected = recorder.expected();
    let differs = replayed.iter().zip(&expected).find(|(a, b)| a != b);
    let at = format!("{} {name} {seed}", path.display());
    assert!(replayed == expected, "{at}: {differs:?} of {}/{}", replayed.len(), expected.len());
    (replayed.iter().filter(|line| line.starts_with("send")).count() as u64, late)
}

/// The same over a device that is faster than the link ever is, which begins at once.
fn replay_behind(module: &Module, plan: (&Path, &Plan), seed: u64, traffic: &[Arrival]) -> u64 {
    let (sent, late) = compare(module, plan, 10_000_000_000, seed, traffic);
    assert_eq!(late, 0, "{}", plan.0.display());
    sent
}

#[test]
fn dispatches_in_ns3_are_those_of_the_simulator() {
    let Some(module) = module() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut sent = 0;
    for (number, queue) in QUEUES.iter().enumerate() {
        let text = plan_text(queue);
        let path = folder.path().join(format!("{number}.toml"));
        std::fs::write(&path, &text).unwrap();
        let plans = disciplines(&text, folder.path());
        let all = SchedulerSpec::defaults().filter(|spec| spec.kind() != Kind::Tdp);
        assert_eq!(plans.len(), all.count(), "every discipline of a link");
        for seed in 1..=3 {
            let traffic = drawn(seed + 10 * number as u64);
            for plan in &plans {
                sent += replay_behind(module, (&path, plan), seed, &traffic);
            }
        }
    }
    for (name, duration) in EXAMPLES {
        let path = repository().join(format!("examples/{name}.toml"));
        let text = std::fs::read_to_string(&path).unwrap();
        let plans = disciplines(&text, path.parent().unwrap());
        for seed in 1..=3 {
            let traffic = Recorder::traffic(&plans[0], seed, duration);
            for plan in &plans {
                sent += replay_behind(module, (&path, plan), seed, &traffic);
            }
        }
    }
    eprintln!("{sent} packets were sent at the same times");
    assert!(sent > 100_000, "{sent} packets were sent");
}

/// A device at the rate of the plan's link begins when the queue disc chooses if a byte takes a
/// whole number of ns; ns-3 rounds the time of each packet elsewhere, and packets wait for that.
#[test]
fn a_device_at_the_rate_of_the_link_is_late_by_what_it_rounds() {
    let Some(module) = module() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.toml");
    for (rate, is_exact) in [(10_000_000, true), (8_000_000, true), (9_000_001, false)] {
        let text = plan_text("").replace("'10mbit'", &format!("'{rate}bit'"));
        std::fs::write(&path, &text).unwrap();
        let plan = Plan::parse(&text, "plan.toml", folder.path()).unwrap();
        for seed in 1..=3 {
            let traffic = drawn(seed);
            let (sent, late) = compare(module, (&path, &plan), rate, seed, &traffic);
            eprintln!("{rate} bit/s: {late} ns late after {sent} packets");
            assert_eq!(late == 0, is_exact, "{rate} {seed}");
            assert!(late <= sent.div_ceil(2), "half a nanosecond for each packet");
        }
    }
}

#[test]
fn the_suite_of_the_module_passes() {
    let Some(module) = module() else { return };
    let mut suite = module.program("test/laxity-test-suite");
    let output = succeed(suite.args(["--suite=laxity", "--verbose"]), "");
    assert!(output.starts_with("PASS laxity"), "{output}");
    assert_eq!(output.matches("\n  PASS ").count(), 6, "{output}");
}

#[test]
fn the_first_script_shows_bounds_beside_delays() {
    let Some(module) = module() else { return };
    let plan = source().join("examples/uplink.toml");
    let mut script = module.program("examples/laxity-first");
    let output = succeed(script.arg(format!("--plan={}", plan.display())), "");
    assert!(output.contains("Every deadline holds."), "{output}");
    let voice = output.lines().find(|line| line.starts_with("voice: ")).expect("a class");
    assert!(voice.starts_with("voice: 5000 sent, 0 dropped, at most +"), "{voice}");
    assert!(voice.ends_with(", proved +5ms"), "{voice}");
}

/// Whatever TCP does: the delays of voice are below what is proved.
#[test]
fn voice_beside_tcp_keeps_its_bounds() {
    let Some(module) = module() else { return };
    let plan = source().join("examples/uplink.toml");
    for (disc, bound) in [("laxity:edf", 5.0), ("laxity:hfsc", 4.20), ("laxity:priority", 2.82)] {
        let mut script = module.program("examples/voice-beside-tcp");
        script.args(["--runs=1", &format!("--disc={disc}"), &format!("--plan={}", plan.display())]);
        let output = succeed(&mut script, "");
        let row = output.lines().last().expect("a table").strip_prefix(disc).expect("a row");
        let numbers: Vec<f64> = row.split_whitespace().map(|word| word.parse().unwrap()).collect();
        let [_, p99, max, shown, dropped, goodput] = numbers[..] else { panic!("{output}") };
        assert!(p99 <= max && max <= shown && (shown - bound).abs() < 1e-9, "{output}");
        assert!(dropped == 0.0 && goodput > 8.0, "{output}");
    }
}

#[test]
fn what_makes_no_sense_ends_the_program_with_the_place() {
    let Some(module) = module() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("uplink.toml");
    let refused = |plan: &str, program: &str, arguments: &[&str]| {
        std::fs::write(&path, plan).unwrap();
        let output = module.program(program).args(arguments).output().expect("it runs");
        assert!(!output.status.success(), "{arguments:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let at = path.to_str().unwrap();
    let message =
        refused("version = 1\n[link]\nrate = 3\n", "test/laxity-replay", &[at, "", "1", "1Gbps"]);
    assert!(message.contains("uplink.toml:3:8: "), "{message}");
    let plan = std::fs::read_to_string(source().join("examples/uplink.toml")).unwrap();
    let message = refused(&plan, "test/laxity-replay", &[at, "edff", "1", "1Gbps"]);
    assert!(message.contains("edff"), "{message}");
    let fast = plan.replace("10mbit", "20mbit");
    let message = refused(&fast, "examples/laxity-first", &[&format!("--plan={at}")]);
    assert!(message.contains("less than the plan's link of 20000000 bit/s"), "{message}");
}
