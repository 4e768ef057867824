//! What a core forwards for a provider's circuits: for ten, and for ten thousand.

#[path = "../../../laxity-forward/tests/forward/circuits.rs"]
pub(crate) mod provider;

use std::net::IpAddr;
use std::path::Path;

use laxity_forward::{Forwarder, Settings};
use laxity_live::Way as Order;
use laxity_plan::Plan;

use crate::place::Place;
use crate::sender::{Lengths, Receivers};
use crate::{Interfaces, Way, forward, spread};
use provider::Upper;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const COUNTS: [usize; 2] = [10, 10_000];
/// Flows of each circuit.
const FLOWS: u16 = 4;
const LEAF: &str = "scheduler = { kind = \"fq-codel\" }";
/// How many frames are sent before the receivers begin anew.
const FRAMES: usize = 1 << 16;

/// Which circuits get frames.
#[derive(Clone, Copy)]
enum Spread {
    /// All of them, in turns.
    All,
    /// A circuit is the less likely the higher its number, by Zipf's law: of ten thousand a hundred
    /// get half of the frames.
    Few,
}

pub(crate) fn measure(rounds: usize) -> Result<()> {
    measure_with("64 B", Lengths::SMALLEST, rounds)?;
    measure_with("IMIX", Lengths::IMIX, rounds)
}

fn measure_with(name: &str, lengths: Lengths, rounds: usize) -> Result<()> {
    println!(
        "{name} to circuits, ns a frame that waits, {rounds} rounds, medians (least to greatest):"
    );
    let head = ["10, in turns", "10 000, in turns", "10, few", "10 000, few"];
    println!("{:>20}{}", "", head.map(|head| format!("{head:>24}")).concat());
    for at in [Interfaces::Ring, Interfaces::Xdp] {
        for upper in [Upper::Hfsc, Upper::Wf2q, Upper::Drr] {
            let cases = [Spread::All, Spread::Few].map(|to| COUNTS.map(|count| (to, count)));
            let cases = cases.as_flattened();
            let mut figures = vec![Vec::new(); cases.len()];
            for _ in 0..rounds {
                for ((to, count), figures) in cases.iter().zip(&mut figures) {
                    let way = Way::Circuits(at, upper, *count);
                    let (frames, took) =
                        forward::waiting(way, receivers(*to, *count), lengths, &Place::new()?)?;
                    figures.push(took.0 as f64 / frames.max(1) as f64);
                }
            }
            let cells = figures.iter().map(|figures| {
                let [median, least, greatest] = spread(figures.iter().copied());
                format!("{:>24}", format!("{median:.0} ({least:.0}-{greatest:.0})"))
            });
            println!("{:>20}{}", format!("{}, {upper:?}", at.name()), cells.collect::<String>());
        }
    }
    Ok(())
}

/// The plan of a number of circuits, as a direction follows it.
pub(crate) fn order(upper: Upper, count: usize) -> Order {
    let text = provider::plan(upper, LEAF, count);
    let plan = Plan::parse(&text, "circuits.toml", Path::new("")).expect("a plan");
    let flows = Settings::default().flows.max(2 * usize::from(FLOWS) * count);
    let settings = Settings { flows, ..Settings::default() };
    Order::Scheduled(Box::new(Forwarder::new(plan, settings).expect("a plan for a link")))
}

fn receivers(to: Spread, count: usize) -> Receivers {
    let mut state = 1_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let receiver = |number: usize| {
        let (circuit, flow) = match to {
            Spread::All => (number % count, (number / count) as u16 % FLOWS),
            Spread::Few => {
                let circuit = (count as f64).powf(random()) as usize - 1;
                (circuit.min(count - 1), (random() * f64::from(FLOWS)) as u16)
            }
        };
        let headers = provider::headers(circuit, flow);
        match (headers.ip.map(|ip| ip.destination), headers.ports) {
            (Some(IpAddr::V4(address)), Some(ports)) => (address, ports.destination),
            _ => unreachable!("circuits have addresses of IPv4"),
        }
    };
    Receivers((0..FRAMES).map(receiver).collect())
}
