//! The module for ns-3: what is simulated there is what is simulated here.

mod module;
mod recorder;

use std::path::Path;

use laxity_plan::Plan;
use laxity_plan::discipline::Kind;
use laxity_plan::model::SchedulerSpec;
use laxity_sim::source::Arrival;

use super::program::succeed;
use super::replay::{QUEUES, plan_text};
use module::{Module, module, repository, source};
use recorder::{Recorder, drawn};

/// Plans of one link, under their own disciplines and others; one of them has a rate that varies.
const EXAMPLES: [(&str, u64); 5] = [
    ("gateway", 1_000_000_000),
    ("gps-over-edf", 1_000_000_000),
    ("home-uplink", 1_000_000_000),
    ("lte-uplink", 3_000_000_000),
    ("media-server", 5_000_000),
];

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
    assert_eq!(output.matches("\n  PASS ").count(), 7, "{output}");
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
    let message = refused(&plan, "test/laxity-replay", &[at, "", "1", "1Gbps", "us"]);
    assert!(message.contains("the resolution of Time is coarser than 1 ns"), "{message}");
    let fast = plan.replace("10mbit", "20mbit");
    let message = refused(&fast, "examples/laxity-first", &[&format!("--plan={at}")]);
    assert!(message.contains("less than the plan's link of 20000000 bit/s"), "{message}");
}

#[test]
fn the_guide_shows_the_script() {
    let script = std::fs::read_to_string(source().join("examples/laxity-first.cc")).unwrap();
    let guide = std::fs::read_to_string(repository().join("docs/ns-3.md")).unwrap();
    let (_, shown) = guide.split_once("```cpp\n").expect("a script");
    let (shown, _) = shown.split_once("```").expect("its end");
    assert!(shown.lines().count() > 30 && script.contains(shown), "{shown}");
}
