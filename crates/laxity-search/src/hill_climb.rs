//! A hill climb: traffic is changed a little, and a change that brings a class nearer to its bound
//! stays.

mod scene;

use laxity_adversary::arrival::Arrival;
use laxity_adversary::traffic::{Ledger, Traffic};
use rand::RngExt;

use self::scene::SearchedTraffic;
use crate::Generator;
use crate::subject::Subject;
use crate::testbed::Testbed;
use crate::testbed::judge::Violation;

/// How long a search goes on.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Packets in all.
    pub packets: u64,
    /// Runs in a row that bring nothing, after which traffic is drawn anew.
    pub patience: u32,
}

/// What a search has come to.
#[derive(Clone, Debug, Default)]
pub struct SearchResult {
    /// How many runs of traffic there were.
    pub runs: u64,
    /// How many packets that were.
    pub packets: u64,
    /// How near any class has come to what is proved.
    pub closest: f64,
    /// How near each of the judged classes has come, in their order.
    pub by_class: Vec<f64>,
    /// The traffic that came nearest, and who did not keep to contracts.
    pub nearest: (Vec<Arrival>, u64),
    /// What was broken, if anything.
    pub broken: Option<Counterexample>,
}

/// Arrivals that break something.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The arrivals since the schedulers were built.
    pub arrivals: Vec<Arrival>,
    /// Where the last run of them begins.
    pub last: usize,
    /// The classes that do not keep to their contracts, a bit each.
    pub rogues: u64,
    /// What is broken.
    pub what: Violation,
}

/// Packets that a subject takes before its schedulers are built anew.
const LIFE: usize = 20_000;

/// When its schedulers are built anew at the latest, in ns: nanoseconds end in 584 years, and what
/// a class of few bits a second may send soon takes as long.
const AGE: u64 = 1 << 62;

/// Searches until something breaks or the budget is spent.
pub fn search(subject: &Subject, budget: Budget, draw: &mut Generator) -> SearchResult {
    let judged = SearchedTraffic::new(subject);
    let mut found = SearchResult::default();
    if judged.classes.is_empty() {
        return found;
    }
    found.by_class = vec![0.0; judged.classes.len()];
    while found.packets < budget.packets && found.broken.is_none() {
        climb(subject, &judged, budget, draw, &mut found);
    }
    found
}

/// One climb from traffic that is drawn to traffic that no small change makes worse.
fn climb(
    subject: &Subject,
    judged: &SearchedTraffic,
    budget: Budget,
    draw: &mut Generator,
    found: &mut SearchResult,
) {
    let SearchedTraffic { classes, scene, .. } = judged;
    let target = classes[draw.random_range(0..classes.len())];
    let rogues = scene.rogues(draw, target);
    let mut life = Life::new(subject, judged, rogues);
    let mut best = Traffic::draw(scene, draw, target, rogues);
    let Some(mut height) = life.run(&best, target, found) else { return };
    let mut in_vain = 0;
    while in_vain < budget.patience && found.packets < budget.packets {
        let mut other = best.clone();
        for _ in 0..1 + draw.random_range(0..3u32) * draw.random_range(0..2) {
            other.change(scene, draw, rogues);
        }
        let Some(reached) = life.run(&other, target, found) else { return };
        in_vain = if reached > height { 0 } else { in_vain + 1 };
        if reached >= height {
            (best, height) = (other, reached);
        }
    }
}

/// Schedulers from when they are built to when they are built anew.
struct Life<'a> {
    judged: &'a SearchedTraffic,
    subject: &'a Subject,
    rogues: u64,
    testbed: Testbed<'a>,
    ledger: Ledger,
    /// All that has arrived.
    log: Vec<Arrival>,
}

impl<'a> Life<'a> {
    fn new(subject: &'a Subject, judged: &'a SearchedTraffic, rogues: u64) -> Self {
        let ledger = Ledger::new(&judged.scene, rogues);
        let testbed = Testbed::new(subject, rogues);
        Life { judged, subject, rogues, testbed, ledger, log: Vec::with_capacity(2 * LIFE) }
    }

    /// Runs traffic and gives how near the target came to its bound; `None` if anything broke.
    fn run(&mut self, traffic: &Traffic, target: usize, found: &mut SearchResult) -> Option<f64> {
        let is_old = self.log.len() > LIFE || self.ledger.end() > AGE;
        if is_old || self.judged.begins_anew {
            self.testbed = Testbed::new(self.subject, self.rogues);
            self.ledger = Ledger::new(&self.judged.scene, self.rogues);
            self.log.clear();
        }
        let begin = self.log.len();
        self.ledger.play(traffic, &mut self.log);
        let run = &self.log[begin..];
        found.runs += 1;
        found.packets += run.len() as u64;
        match self.testbed.run(run) {
            Ok(end) => self.ledger.ends(end),
            Err(what) => {
                let arrivals = self.log.clone();
                let (last, rogues) = (begin, self.rogues);
                found.broken = Some(Counterexample { arrivals, last, rogues, what });
                return None;
            }
        }
        for (nearest, class) in found.by_class.iter_mut().zip(&self.judged.classes) {
            *nearest = nearest.max(self.testbed.closest(*class));
        }
        let nearest = self.testbed.nearest();
        if nearest > found.closest {
            found.closest = nearest;
            found.nearest = (self.log[begin..].to_vec(), self.rogues);
        }
        Some(self.testbed.closest(target))
    }
}
