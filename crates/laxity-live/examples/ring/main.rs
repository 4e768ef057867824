//! Four routers in a ring of network namespaces, in time frames and first come, first served:
//!
//! ```sh
//! cargo run --release -p laxity-live --example ring -- SECONDS PACKETS-A-SECOND BULK
//! ```
//!
//! BULK packets of best effort come at once every ten milliseconds.
//!
//! Needs the right to make namespaces, and for real-time priority to be root.
#![cfg(target_os = "linux")]

mod laboratory;

use std::time::Duration;

use laboratory::{Laboratory, Ran, plan};
use laxity::histogram::Delays;
use laxity::scheduler::DropReason;
use laxity::units::Nanos;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number =
        |otherwise| arguments.next().map_or(otherwise, |text| text.parse().expect("a number"));
    let (seconds, rate, bulk): (u64, u64, u64) = (number(10), number(1_000), number(60));
    let gap = Nanos(4_000_000_000 / rate.max(1));
    let Some(laboratory) = Laboratory::new() else { return };
    println!(
        "scheduler  sent  received  lost  dropped  disturbed  out of frames skipped %  delay p50  p99  max us  jitter p50  p99  max  kept max us"
    );
    for scheduler in ["tdp", "fifo"] {
        let ran =
            laboratory.run(&plan(gap, scheduler), gap, bulk as u32, Duration::from_secs(seconds));
        println!("{scheduler:9}  {}", line(&ran));
    }
}

fn line(ran: &Ran) -> String {
    let Ran { measured, counts, missed, is_real_time, sent, received, lasted } = ran;
    let flows = &measured.classes[..4];
    let sum = |of: fn(&laxity_live::routers::measurement::ClassBooks) -> u64| -> u64 {
        flows.iter().map(of).sum()
    };
    let frames = lasted.as_micros() as f64 / 250.0;
    let worst = |of: &dyn Fn(&laxity_live::routers::measurement::ClassBooks) -> Nanos| {
        flows.iter().map(of).max().unwrap_or_default().0 as f64 / 1e3
    };
    let delay = |parts, of| worst(&move |class| class.delay.quantile(parts, of));
    let jitter = |parts, of| worst(&move |class| class.jitter_of(parts, of));
    let longest = |delays: fn(&laxity_live::routers::measurement::ClassBooks) -> &Delays| {
        worst(&move |class| delays(class).max())
    };
    format!(
        "{sent}  {received}  {}  {:?}  {}  {}  {:.3}  {:.0} {:.0} {:.0}  {:.0} {:.0} {:.0}  {:.0}{}{}",
        sum(|class| class.lost) + counts.interfaces.iter().map(|it| it.missed).sum::<u64>(),
        flows.iter().map(|class| class.dropped).fold([0; DropReason::ALL.len()], |mut sum, one| {
            sum.iter_mut().zip(one).for_each(|(sum, one)| *sum += one);
            sum
        }),
        sum(|class| class.disturbed),
        counts.losses,
        100.0 * measured.skipped as f64 / frames,
        delay(1, 2),
        delay(99, 100),
        longest(|class| &class.delay),
        jitter(1, 2),
        jitter(99, 100),
        jitter(1, 1),
        worst(&|class| class.jitter()),
        if *is_real_time { "" } else { "  (no real-time priority)" },
        if *missed > 0 { format!("  {missed} events missed") } else { String::new() },
    )
}
