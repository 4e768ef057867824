//! A plan from its text, proved and then simulated: what each class is promised, and what it gets.

use std::error::Error;
use std::path::Path;

use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_sim::link::Run;
use laxity_sim::record::{Fate, Observer, Record};
use laxity_sim::to_the_end;

const PLAN: &str = r#"
version = 1
link = { rate = "10mbit" }
scheduler = { kind = "edf" }

[class.voice]
deadline = "5ms"
arrival = { bucket = "300b", rate = "150kB/s", packet = "100b", peak = "250kB/s" }

[class.upload]

[[source]]
class = "voice"
model = "greedy"
packet = "100b"
burst = { uniform = ["2ms", "4ms"] }
spacing = { uniform = ["6ms", "10ms"] }

[[source]]
class = "upload"
model = "backlogged"
packet = "1500b"
"#;

/// Looks for the packet that took longest.
#[derive(Default)]
struct Longest(Option<Record>);

impl Longest {
    fn delay(record: &Record) -> Option<Nanos> {
        match record.fate {
            Fate::Sent { departure, .. } => Some(departure - record.packet.arrival),
            Fate::Dropped(_) | Fate::Queued => None,
        }
    }
}

impl Observer for Longest {
    fn record(&mut self, record: &Record) {
        if record.packet.class.index() == 0
            && Self::delay(record) > self.0.and_then(|r| Self::delay(&r))
        {
            self.0 = Some(*record);
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let plan = Plan::parse(PLAN, "plan.toml", Path::new("."))?;
    let run =
        Run { plan: &plan, duration: Some(Nanos(10_000_000_000)), seed: 1, feeds: Vec::new() };
    let mut longest = Longest::default();
    let summary = run.with_sources()?.simulate(&mut longest, &mut to_the_end)?.summary;
    for class in &summary.hops[0].classes {
        let delay = class.delay_ns.ok_or("every class sends")?;
        let bound = class.bound_ns.map_or("nothing".to_string(), |bound| Nanos(bound).to_string());
        println!(
            "{}: {} packets, {} at most, {bound} promised",
            class.name,
            class.sent,
            Nanos(delay.max)
        );
        assert_eq!((class.deadline_misses, class.bound_misses), (0, 0));
    }
    let voice = longest.0.ok_or("voice sends")?;
    let delay = Longest::delay(&voice).ok_or("it was sent")?;
    println!("Voice waited longest for packet {}, {delay}.", voice.packet.handle);
    assert_eq!(summary.hops[0].classes[0].delay_ns.map(|delay| delay.max), Some(delay.0));
    Ok(())
}
