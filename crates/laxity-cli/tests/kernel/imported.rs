//! Random set-ups of tc in the kernel, beside the plans that are imported from them: what every
//! leaf sends while all of them have packets.

mod flood;
mod setup;

use std::collections::BTreeMap;
use std::time::Duration;

use rand::SeedableRng;

use crate::lab::{only, plan as file, run, says};
use crate::uml::{inside_alone, whole};
use flood::{flood, kbit};
use setup::{KINDS, Leaf, Setup, drawn, reference};

const LIMIT: Duration = Duration::from_secs(1800);
/// The part by which a rate may differ: packets that are under way when a measurement begins and
/// ends, and the timers of this kernel.
const TOLERANCE: f64 = 0.05;
/// For how long both are measured.
const MEASURE: Duration = Duration::from_millis(1_500);
/// What each leaf sends at in a simulation, in bit/s: more than any link.
const FLOOD: u64 = 4_000_000;
/// By how much the rate of a token bucket beside them may differ where the machine keeps up with
/// what it is to send, and how often set-ups are measured that are off.
const SURE: f64 = 0.02;
const TRIES: usize = 8;

#[test]
fn every_leaf_sends_what_its_plan_has_it_send() {
    inside_alone("imported::every_leaf_sends_what_its_plan_has_it_send", LIMIT, || {
        let seed = std::env::var("LAXITY_KERNEL_SEED").ok().and_then(|seed| seed.parse().ok());
        let mut draw = laxity_search::Generator::seed_from_u64(seed.unwrap_or(2026));
        let (mut leaves, mut all) = (0, Held::default());
        for _ in 0..whole(1, 40) {
            let setups = KINDS.map(|kind| drawn(kind, &mut draw));
            let planned: Vec<Vec<f64>> = setups.iter().map(simulated).collect();
            let held = held(&setups, &planned);
            leaves += planned.iter().map(Vec::len).sum::<usize>();
            all.judged += held.judged;
            all.unjudged += held.unjudged;
            all.furthest = all.furthest.max(held.furthest);
        }
        let Held { judged, unjudged, furthest } = all;
        println!(
            "{judged} set-ups, {leaves} leaves, at most {:.1} % of the link from the plan; the machine never kept \
             up with {unjudged} set-ups",
            furthest * 100.0
        );
        assert!(judged > 2 * unjudged);
    });
}

#[derive(Default)]
struct Held {
    judged: usize,
    /// Those for which the machine never kept up.
    unjudged: usize,
    /// How far off a rate was at most, as a part of all of its set-up.
    furthest: f64,
}

/// Measures the set-ups until each has sent what its plan says.
///
/// # Panics
/// If one does not although the machine keeps up.
fn held(setups: &[Setup], planned: &[Vec<f64>]) -> Held {
    let mut held = Held::default();
    let mut left: Vec<usize> = (0..setups.len()).collect();
    for tries in 1..=TRIES {
        let told: Vec<&Setup> = left.iter().map(|at| &setups[*at]).collect();
        let (reference, known) = reference();
        let mut measured = measured(&[&told[..], &[&reference]].concat());
        let seen = measured.pop().map_or(0.0, |rates| rates[0]);
        let keeps_up = (seen - known).abs() <= SURE * known;
        let mut wrong = Vec::new();
        for (at, measured) in left.iter().zip(&measured) {
            let (setup, planned) = (&setups[*at], &planned[*at]);
            let turn = kbit(setup.turn, MEASURE);
            let pairs = || measured.iter().zip(planned);
            let off = |(is, said): (&f64, &f64)| (is - said).abs();
            if pairs().all(|pair| off(pair) <= TOLERANCE * pair.0.max(*pair.1) + turn) {
                let total: f64 = planned.iter().sum();
                held.judged += 1;
                held.furthest = pairs().map(|pair| off(pair) / total).fold(held.furthest, f64::max);
                continue;
            }
            let Setup { kind, batch, .. } = setup;
            println!(
                "{kind}: {measured:.0?} kbit/s in the kernel, {planned:.0?} in the plan; {seen:.0} of a reference of \
                 {known:.0}\n{batch}"
            );
            // Flows may share a queue of fq_codel and a measurement end in a pause, but not again
            // and again.
            let is_last = tries == TRIES;
            assert!(!keeps_up || !is_last, "{kind} is not what its plan says, as printed above");
            wrong.push(*at);
        }
        left = wrong;
        if left.is_empty() {
            break;
        }
    }
    held.unjudged = left.len();
    held
}

/// What each leaf sends in a simulation of the imported plan, in kbit/s.
fn simulated(setup: &Setup) -> Vec<f64> {
    let script = file("script.tc", &setup.batch);
    let path = file("imported.toml", &only(&["import", "tc", &script]));
    let arrivals = file("arrivals.csv", &arrivals(setup));
    let _ = std::fs::remove_dir_all("/run/ran");
    says(0, &["run", &path, "--arrivals", &arrivals, "--out", "/run/ran", "--packets", "csv"]);
    let packets = std::fs::read_to_string("/run/ran/packets.csv").expect("the packets of the run");
    let mut lines = packets.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().expect("a header");
    let column = |name: &str| head.iter().position(|column| *column == name).expect("a column");
    let [class, flow, length, departure] = ["class", "flow", "length", "departure_ns"].map(column);
    let mut sent: BTreeMap<(String, usize), u64> = BTreeMap::new();
    let measured = MEASURE.as_nanos()..2 * MEASURE.as_nanos();
    for line in lines {
        if line[departure].parse().is_ok_and(|time: u128| measured.contains(&time)) {
            let leaf = (line[class].to_owned(), line[flow].parse().expect("a flow"));
            *sent.entry(leaf).or_default() += line[length].parse::<u64>().expect("a length");
        }
    }
    let of = |(at, leaf): (usize, &Leaf)| sent.get(&(leaf.class.clone(), at)).copied();
    setup.leaves.iter().enumerate().map(|leaf| kbit(of(leaf).unwrap_or(0), MEASURE)).collect()
}

/// Every leaf as a flow that fills the link alone.
fn arrivals(setup: &Setup) -> String {
    let of = |(at, leaf): (usize, &Leaf)| {
        let spacing = leaf.length * 8_000_000_000 / FLOOD;
        let times = (0..2 * MEASURE.as_nanos() as u64).step_by(spacing as usize);
        times.map(|time| (time, at)).collect::<Vec<_>>()
    };
    let mut all: Vec<(u64, usize)> = setup.leaves.iter().enumerate().flat_map(of).collect();
    all.sort_unstable();
    let mut text = String::from("time_ns,class,length,flow\n");
    for (time, at) in all {
        let Leaf { class, length, .. } = &setup.leaves[at];
        text += &format!("{time},{class},{length},{at}\n");
    }
    text
}

/// What each leaf of the set-ups sends in the kernel, in kbit/s, on an interface of its own each.
fn measured(setups: &[&Setup]) -> Vec<Vec<f64>> {
    run("ip", "netns add b");
    let (mut ends, mut here, mut there) = (Vec::new(), String::new(), String::new());
    for (at, setup) in setups.iter().enumerate() {
        here += &[
            format!("link add v{at} type veth peer name w{at} address 02:00:00:00:00:02 netns b"),
            format!("link set v{at} up txqueuelen 1000"),
            format!("addr add 10.9.{at}.1/24 dev v{at}"),
            format!("neigh add 10.9.{at}.2 lladdr 02:00:00:00:00:02 dev v{at}"),
            String::new(),
        ]
        .join("\n");
        there += &format!("link set w{at} up\naddr add 10.9.{at}.2/24 dev w{at}\n");
        let end = |leaf: &Leaf| (at, leaf.port, leaf.length);
        ends.extend(setup.leaves.iter().map(end));
    }
    run("ip", &format!("-batch {}", file("here.ip", &here)));
    run("ip", &format!("-n b -batch {}", file("there.ip", &there)));
    let batch =
        |(at, setup): (usize, &&Setup)| setup.batch.replace(setup::DEVICE, &format!("v{at}"));
    let batches: String = setups.iter().enumerate().map(batch).collect();
    run("tc", &format!("-batch {}", file("batch.tc", &batches)));
    let mut received = flood(&ends, MEASURE).into_iter();
    let all = setups.iter().map(|setup| received.by_ref().take(setup.leaves.len()).collect());
    let all = all.collect();
    let gone: String = (0..setups.len()).map(|at| format!("link del v{at}\n")).collect();
    run("ip", &format!("-batch {}", file("gone.ip", &gone)));
    run("ip", "netns del b");
    all
}
