//! `laxity-search`: searches for traffic that breaks what Laxity promises.

use std::io::{IsTerminal, stderr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Parser;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use laxity_search::campaign::{Campaign, Tally};
use laxity_search::case::Outcome;
use laxity_search::discipline::{Discipline, words};
use signal_hook::consts::SIGINT;
use signal_hook::flag;

/// Draws plans at the edge of admission and searches for traffic that breaks what is proved of
/// them.
///
/// Exits with 1 if anything is broken.
#[derive(Parser)]
#[command(max_term_width = 100)]
struct Arguments {
    /// How long, such as 10 or 0.5.
    #[arg(long, value_name = "N", default_value = "1", value_parser = minutes)]
    minutes: Duration,
    /// What plans and traffic are drawn from: the same seed searches the same cases, in any time
    /// and on any number of threads.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[arg(long, value_name = "DISCIPLINE", help = format!("One kind of plans: {}", words()))]
    only: Option<Discipline>,
    /// The number of the first case of each kind.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    first: u64,
    /// How many cases of each kind at most.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    cases: Option<u64>,
    /// Threads; as many as there are cores by default.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Where counterexamples go.
    #[arg(long, value_name = "FOLDER", default_value = "target/counterexamples")]
    out: PathBuf,
}

/// A time in minutes.
fn minutes(text: &str) -> Result<Duration, String> {
    let time = text.parse().ok().filter(|minutes| *minutes > 0.0);
    let time = time.and_then(|minutes: f64| Duration::try_from_secs_f64(60.0 * minutes).ok());
    time.ok_or_else(|| "accepted is a number of minutes above 0, such as 10 or 0.5".into())
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let campaign = Campaign {
        disciplines: arguments.only.map_or(Discipline::all().collect(), |only| vec![only]),
        seed: arguments.seed,
        first: arguments.first,
        cases: arguments.cases.unwrap_or(u64::MAX),
        time: arguments.minutes,
        threads: arguments.threads.map_or(all, usize::from),
        folder: arguments.out,
    };
    let stop = Arc::new(AtomicBool::new(false));
    // The first Ctrl-C asks for the table, the second one for nothing.
    let asked = flag::register_conditional_shutdown(SIGINT, 130, stop.clone())
        .and_then(|_| flag::register(SIGINT, stop.clone()));
    if let Err(error) = asked {
        eprintln!("Ctrl-C will not print what was found: {error}");
    }
    let bar = bar();
    let tally = campaign.run(&stop, &|tally| {
        let sum = |of: fn(&Outcome) -> u64| tally.rows.iter().map(of).sum::<u64>();
        bar.set_message(format!(
            "{} plans, {} packets, {} broken",
            sum(|row| row.plans),
            sum(|row| row.packets),
            sum(|row| row.counterexamples)
        ));
    });
    bar.finish_and_clear();
    println!("{}", summary(&campaign, &tally));
    for saved in &tally.saved {
        let seen = if saved.replayed { "" } else { " (where `run` finds nothing)" };
        println!("\n{}: {}\n  {}{seen}", saved.discipline, saved.what, saved.command);
    }
    tally.failures.iter().for_each(|failure| eprintln!("a counterexample is not saved: {failure}"));
    if tally.rows.iter().all(|row| row.counterexamples == 0) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{spinner} {elapsed_precise} {msg}");
    bar.set_style(style.expect("the template is well formed"));
    if stderr().is_terminal() {
        bar.enable_steady_tick(Duration::from_millis(200))
    } else {
        bar.set_draw_target(ProgressDrawTarget::hidden())
    }
    bar
}

fn summary(campaign: &Campaign, tally: &Tally) -> String {
    let mut whole = Outcome::default();
    tally.rows.iter().for_each(|row| whole.add(row));
    let names = campaign.disciplines.iter().map(|discipline| discipline.name()).chain(["all"]);
    let line = |cells: [&str; 8]| {
        let [name, numbers @ ..] = cells;
        let numbers = numbers.map(|number| format!("{number:>16}"));
        format!("{name:<12}{}\n", numbers.concat())
    };
    let row = |(name, row): (&str, &Outcome)| {
        let counts =
            [row.plans, row.admitted, row.runs, row.packets].map(|count| count.to_string());
        let [plans, admitted, runs, packets] = &counts;
        let [closest, median] = [row.closest, row.median()].map(|ratio| format!("{ratio:.4}"));
        let broken = row.counterexamples.to_string();
        line([name, plans, admitted, runs, packets, &closest, &median, &broken])
    };
    // Closest and median are of delays beside their bounds, the median over all classes.
    let header =
        ["", "plans", "admitted", "runs", "packets", "closest", "median", "counterexamples"];
    line(header) + &names.zip(tally.rows.iter().chain([&whole])).map(row).collect::<String>()
}
