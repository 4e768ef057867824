//! Mean waits of single queues against Pollaczek and Khinchine: lambda E(S^2) / (2 (1 - rho)).

use super::*;

/// Lengths on a link where a byte takes 1 us: how a plan says them, their mean, and the mean of
/// their squares.
struct Lengths {
    name: &'static str,
    packet: &'static str,
    mean: f64,
    squares: f64,
}

fn mean_wait(lengths: &Lengths, load: f64, seed: u64, seconds: u64) -> f64 {
    let text = format!(
        r#"version = 1
        link = {{ rate = "8mbit", max-packet = "100kB", min-packet = "1b" }}
        scheduler.kind = "fifo"
        class.all = {{}}
        run.warm-up = "2s"
        source = [{{ class = "all", model = "poisson", packet = {}, rate = "{}bit" }}]"#,
        lengths.packet,
        (8e6 * load) as u64
    );
    let plan = Plan::parse(&text, "theory.toml", Path::new("")).unwrap();
    let duration = Some(Nanos(seconds * 1_000_000_000));
    let run = Run { plan: &plan, duration, seed, feeds: Vec::new() };
    let outcome = run.with_sources().unwrap().simulate(&mut (), &mut crate::to_the_end).unwrap();
    let class = class(&outcome);
    let transmission = 1e3 * class.bytes_sent as f64 / class.sent as f64;
    (class.delay_ns.unwrap().mean - transmission) / 1e3
}

/// Theory lies in the interval that ten seeds give with a confidence of 99.9 %, by Student's t with
/// nine degrees of freedom, and the interval is narrow enough to tell theory from what lies a tenth
/// beside it.
#[test]
fn mean_waits_are_those_of_theory() {
    let systems = [
        Lengths { name: "M/D/1", packet: "\"1000b\"", mean: 1e3, squares: 1e6 },
        Lengths { name: "M/M/1", packet: "{ exponential = \"1000b\" }", mean: 1e3, squares: 2e6 },
        // (a + b) / 2, and that squared plus ((b - a + 1)^2 - 1) / 12.
        Lengths {
            name: "M/G/1, uniform",
            packet: "{ uniform = [\"40b\", \"1500b\"] }",
            mean: 770.0,
            squares: 770_776.666_667,
        },
        // 500 exp(s^2 / 2) and 500^2 exp(2 s^2).
        Lengths {
            name: "M/G/1, lognormal",
            packet: "{ lognormal = [\"500b\", 0.8] }",
            mean: 688.563_6,
            squares: 899_159.99,
        },
    ];
    for lengths in &systems {
        for (load, seconds) in [(0.3, 50), (0.6, 100), (0.8, 200)] {
            let expected = load * lengths.squares / lengths.mean / (2.0 * (1.0 - load));
            let waits: Vec<f64> =
                (1..=10).map(|seed| mean_wait(lengths, load, seed, seconds)).collect();
            let n = waits.len() as f64;
            let mean = waits.iter().sum::<f64>() / n;
            let squares: f64 = waits.iter().map(|wait| (wait - mean).powi(2)).sum();
            let half = 4.781 * (squares / (n - 1.0) / n).sqrt();
            let what = format!("{} at {load}: {mean} us +- {half}, {expected} us", lengths.name);
            assert!((mean - expected).abs() <= half, "{what}");
            assert!(half < 0.1 * expected, "{what}");
        }
    }
}
