//! Cases one after another on all cores, until the time is over.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::case::save::{self, SavedCase};
use crate::case::{self, Outcome};
use crate::discipline::Discipline;
use crate::hill_climb::Budget;

/// What is to be searched.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The kinds of plans, in turn.
    pub disciplines: Vec<Discipline>,
    /// What all cases are drawn from.
    pub seed: u64,
    /// The number of the first case of each discipline.
    pub first: u64,
    /// How many cases of each discipline at most.
    pub cases: u64,
    /// After how long no case is begun.
    pub time: Duration,
    /// How many are searched side by side.
    pub threads: usize,
    /// Where counterexamples go.
    pub folder: PathBuf,
}

/// What a campaign has come to.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// By discipline, in the order of [`Campaign::disciplines`].
    pub rows: Vec<Outcome>,
    /// What was broken.
    pub saved: Vec<SavedCase>,
    /// Why counterexamples could not be written.
    pub failures: Vec<String>,
}

/// What is spent on one plan: some tenths of a second.
pub fn budget(discipline: Discipline) -> Budget {
    let packets = match discipline {
        // Its networks begin anew, and a packet of theirs costs as much as thirty of a link's.
        Discipline::Kind(kind) if kind.room().is_of_networks => 20_000,
        // Each plan that follows builds its scheduler.
        Discipline::Reservations => 60_000,
        _ => 250_000,
    };
    Budget { packets, patience: 150 }
}

/// Counterexamples of a discipline after which no more are saved: they are likely the same.
const MOST_SAVED: usize = 20;

impl Campaign {
    /// Searches until the time is over or `stop` is set; tells `progress` what there is after each
    /// case.
    pub fn run(&self, stop: &AtomicBool, progress: &(dyn Fn(&Tally) + Sync)) -> Tally {
        let rows = vec![Outcome::default(); self.disciplines.len()];
        let tally = Mutex::new(Tally { rows, ..Tally::default() });
        let next = AtomicU64::new(0);
        let turns = self.cases.saturating_mul(self.disciplines.len() as u64);
        let begin = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..self.threads {
                scope.spawn(|| {
                    while begin.elapsed() < self.time && !stop.load(Ordering::Relaxed) {
                        let turn = next.fetch_add(1, Ordering::Relaxed);
                        if turn >= turns {
                            break;
                        }
                        self.case(turn, &tally, progress);
                    }
                });
            }
        });
        tally.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn case(&self, turn: u64, tally: &Mutex<Tally>, progress: &(dyn Fn(&Tally) + Sync)) {
        let kinds = self.disciplines.len() as u64;
        let (row, number) = ((turn % kinds) as usize, self.first + turn / kinds);
        let discipline = self.disciplines[row];
        let mut outcome = case::run(discipline, self.seed, number, budget(discipline), None);
        let broken = outcome.broken.take().map(|broken| broken.shrunk(None));
        let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.rows[row].add(&outcome);
        if let Some(broken) = broken {
            tally.rows[row].counterexamples += 1;
            let known = tally.saved.iter().filter(|saved| saved.discipline == discipline).count();
            if known < MOST_SAVED {
                let name = format!("{discipline}-{}-{number}", self.seed);
                match save::save(&self.folder, &name, discipline, &broken) {
                    Ok(saved) => tally.saved.push(saved),
                    Err(error) => tally.failures.push(error.to_string()),
                }
            }
        }
        progress(&tally);
    }
}

impl Outcome {
    /// Adds what came of another case.
    pub fn add(&mut self, other: &Outcome) {
        self.plans += other.plans;
        self.admitted += other.admitted;
        self.runs += other.runs;
        self.packets += other.packets;
        self.closest = self.closest.max(other.closest);
        self.by_class.extend(&other.by_class);
        self.counterexamples += other.counterexamples;
    }

    /// How near the class in the middle came to what is proved of it: how much a search of this
    /// length leaves of the bounds.
    pub fn median(&self) -> f64 {
        let mut sorted = self.by_class.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }
}
