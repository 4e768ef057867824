//! What a network costs: the plan's reading, its proofs, and a hop.
//!
//! ```sh
//! cargo run --release -p laxity-sim --example network -- PLAN [SEED [THREADS]]
//! ```

use std::num::NonZeroU32;
use std::path::Path;
use std::time::Instant;

use laxity_plan::Plan;
use laxity_sim::network::NetworkRun;
use laxity_sim::to_the_end;

fn main() {
    let mut args = std::env::args().skip(1);
    let path = args.next().expect("which plan?");
    let seed = args.next().map_or(1, |seed| seed.parse().expect("a seed is a number"));
    let threads =
        args.next().map(|threads| threads.parse::<NonZeroU32>().expect("a number, from 1"));
    let begin = Instant::now();
    let plan = Plan::read(Path::new(&path)).expect("the plan is read");
    tell("read", begin);
    let on = plan.network_plan().expect("the plan has a network").analysis();
    let duration = plan.run.duration;
    let begin = Instant::now();
    let run = NetworkRun::new(&on, duration, seed);
    let outcome = match threads.filter(|threads| threads.get() > 1) {
        Some(threads) => {
            let simulated = run.simulate_in_parallel(threads, &mut (), &mut to_the_end);
            let (outcome, how) = simulated.expect("the network is simulated");
            println!("{} parts, {} windows, at most {:.2}", how.parts, how.windows, how.limit());
            outcome
        }
        None => run.simulate(&mut (), &mut to_the_end).expect("the network is simulated"),
    };
    tell("simulated", begin);
    let hops = outcome.summary.network.as_ref().expect("the plan is a network").hop_departures;
    println!("{hops} hops, {:.1} ns each", begin.elapsed().as_nanos() as f64 / hops as f64);
}

/// Prints the time since `begin`, and the largest memory of the program so far.
fn tell(what: &str, begin: Instant) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("?").trim();
    println!("{what} in {:.3} s, {most}", begin.elapsed().as_secs_f64());
}
