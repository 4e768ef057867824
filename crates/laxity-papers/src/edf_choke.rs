//! The experiments of Hei and Tsang (2001): Tables I to III and Figures 4 to 6, and what their
//! section IV leaves for later: self-similar traffic, and several congested links.

mod combination;
mod figures;
mod watch;

use laxity_sim::error::SimError;

use self::combination::{COMBINATIONS, Combination};
use self::watch::Run;
use super::claims::Measurements;
use crate::experiment::{Part, Repetition, Runs, Settings, plan};

const DUMBBELL: &str = include_str!("../../../papers/edf-choke/plan.toml");
const SELF_SIMILAR: &str = include_str!("../../../papers/edf-choke/self-similar.toml");
const THREE_LINKS: &str = include_str!("../../../papers/edf-choke/three-links.toml");
const CLAIMS: &str = include_str!("../../../papers/edf-choke/claims.toml");

/// The paper's experiment and its future work; the names end the names of measurements.
const EXPERIMENTS: [(&str, &str); 3] = [
    ("", DUMBBELL),
    (", self-similar UDP", SELF_SIMILAR),
    (", three congested links", THREE_LINKS),
];

const FAIRNESS: &str = "Jain's index of the 33 flows (Table I)";
const TCP_GOODPUT: &str = "TCP goodput (section III) [kbit/s]";
const UDP_GOODPUT: &str = "UDP goodput (Fig. 4) [kbit/s]";
const TCP_DELAY: &str = "TCP delay, mean (Table II) [s]";
const TCP_DEVIATION: &str = "TCP delay, deviation (Table II) [s]";
const UDP_DELAY: &str = "UDP delay of what is sent, mean [s]";
const UDP_DEVIATION: &str = "UDP delay of what is sent, deviation [s]";
const UDP_DELAY_OF_ALL: &str = "UDP delay, dropped as zero, mean (Table II) [s]";
const UDP_DEVIATION_OF_ALL: &str = "UDP delay, dropped as zero, deviation (Table II) [s]";
const TCP_POWER: &str = "power of TCP (Table III) [bit/s²]";
const UDP_POWER: &str = "power of UDP (Table III) [bit/s²]";

/// The paper's figures are those of 200 s with the start-up in them, and vary from seed to seed: no
/// run is shortened, and there are never fewer seeds than this.
const FEWEST_SEEDS: u64 = 6;

/// Repeats the experiments.
pub(crate) fn repeat(settings: &Settings<'_>) -> Result<Repetition, SimError> {
    let seeds = settings.seeds.max(FEWEST_SEEDS);
    let all = seeds * (EXPERIMENTS.len() * COMBINATIONS.len()) as u64;
    let runs = Runs { seeds, duration: None, step: &|| (settings.progress)(all) };
    let jobs = COMBINATIONS.map(|combination| (1..=seeds).map(move |seed| (combination, seed)));
    let jobs: Vec<_> = jobs.into_iter().flatten().collect();
    let mut measured = Measurements::default();
    let mut parts = Vec::new();
    for (name, text) in EXPERIMENTS {
        let run = |(combination, seed)| Run::simulate(text, combination, seed);
        let shown = runs.each(jobs.clone(), run)?;
        shown.iter().for_each(|one| add(&mut measured, name, one));
        parts.push(part(name, &shown, &measured));
    }
    Ok(Repetition::new(
        plan(DUMBBELL).run.duration.unwrap_or_default(),
        seeds,
        CLAIMS,
        &measured,
        parts,
    ))
}

fn add(measured: &mut Measurements, experiment: &str, shown: &Run) {
    let of = &format!("{}{experiment}", shown.combination.name());
    let (tcp, udp) = (&shown.tcp, &shown.udp);
    measured.add(FAIRNESS, of, shown.fairness);
    measured.add(TCP_GOODPUT, of, tcp.goodput / 1e3);
    measured.add(UDP_GOODPUT, of, udp.goodput / 1e3);
    measured.add(TCP_DELAY, of, tcp.delay.mean);
    measured.add(TCP_DEVIATION, of, tcp.delay.deviation);
    measured.add(UDP_DELAY, of, udp.delay.mean);
    measured.add(UDP_DEVIATION, of, udp.delay.deviation);
    measured.add(UDP_DELAY_OF_ALL, of, udp.delay_of_all.mean);
    measured.add(UDP_DEVIATION_OF_ALL, of, udp.delay_of_all.deviation);
    measured.add(TCP_POWER, of, shown.tcp_power);
    measured.add(UDP_POWER, of, udp.goodput / udp.delay_of_all.mean);
}

/// A table with the means of a combination in each row; figures for the paper's own experiment.
fn part(experiment: &str, shown: &[Run], measured: &Measurements) -> Part {
    let heading = match experiment {
        "" => "Tables I to III".to_string(),
        other => format!("The same{}", other.replacen(", ", ", with ", 1)),
    };
    let part = if experiment.is_empty() { figures::all(shown) } else { Part::default() };
    let header = [
        "order and queue",
        "Jain",
        "TCP kbit/s",
        "UDP kbit/s",
        "TCP delay s",
        "deviation",
        "UDP delay s",
        "deviation",
        "dropped as 0: s",
        "deviation",
        "power TCP",
        "UDP",
    ];
    let row = |combination: Combination| {
        let of = format!("{}{experiment}", combination.name());
        let mean = |what, digits: usize| format!("{:.digits$}", measured.mean(what, &of));
        let power = |what| format!("{:.2e}", measured.mean(what, &of));
        vec![
            combination.name(),
            mean(FAIRNESS, 4),
            mean(TCP_GOODPUT, 0),
            mean(UDP_GOODPUT, 0),
            mean(TCP_DELAY, 3),
            mean(TCP_DEVIATION, 3),
            mean(UDP_DELAY, 3),
            mean(UDP_DEVIATION, 3),
            mean(UDP_DELAY_OF_ALL, 4),
            mean(UDP_DEVIATION_OF_ALL, 4),
            power(TCP_POWER),
            power(UDP_POWER),
        ]
    };
    part.table(heading, &header, COMBINATIONS.map(row))
}
