//! The search itself.

use std::collections::HashMap;
use std::ops::Range;

use super::question::Tuning;
use super::result::{Below, Bound, Least, TuneResult, TunedKey};
use super::sampler::Sampler;
use super::trial::Trial;
use crate::Error;
use crate::sweep::{Listener, Store, StudyProgress};

/// Seeks values of a plan's keys with which all requirements hold, and among them, one key after
/// the other, the smallest. Runs that are in the store are not made again. `heard` gets the number
/// of runs asked for and of those in the store, and may end the search.
///
/// # Errors
/// As [`Tuning::judge`].
pub fn tune(tuning: &Tuning, store: &Store, heard: Listener<'_>) -> Result<TuneResult, Error> {
    let mut search =
        Search { tuning, store, heard, tried: Vec::new(), places: HashMap::new(), runs: 0 };
    let Some(mut best) = search.anything()? else {
        let nearest = search.tried.iter().min_by(|a, b| a.miss.total_cmp(&b.miss)).cloned();
        let nearest = nearest.expect("something was tried");
        return TuneResult::new(tuning, nearest, Vec::new(), search.tried);
    };
    let mut least = Vec::new();
    for key in 0..tuning.minimise.len() {
        least.push(search.least(key, &mut best)?);
    }
    TuneResult::new(tuning, best, least, search.tried)
}

struct Search<'a> {
    tuning: &'a Tuning,
    store: &'a Store,
    heard: Listener<'a>,
    tried: Vec<Trial>,
    places: HashMap<Vec<u64>, usize>,
    runs: usize,
}

impl Search<'_> {
    /// Values with which everything holds: of what is to be small the largest, if some hold with
    /// these.
    fn anything(&mut self) -> Result<Option<Trial>, Error> {
        let start = self.tuning.start();
        let (minimised, all) = (self.tuning.minimise.len(), start.len());
        match self.within(&start, minimised..all)? {
            None if minimised > 0 => self.within(&start, 0..all),
            found => Ok(found),
        }
    }

    /// Makes a key as small as can be, and says what binds.
    fn least(&mut self, key: usize, best: &mut Trial) -> Result<Least, Error> {
        let from = self.tuning.minimise[key].from;
        if let Some(found) = self.probe(key, from, best)? {
            *best = found;
            let chosen = self.chosen(key, best);
            return Ok(Least { chosen, bound: Bound::Range, below: None });
        }
        let mut below = self.at(&with(best, key, from))?;
        self.tighten(key, best, &mut below)?;
        while let Some(between) = self.between(key, &below, best) {
            match self.probe(key, between, best)? {
                Some(found) => {
                    *best = found;
                    self.tighten(key, best, &mut below)?;
                }
                None => below = self.at(&with(best, key, between))?,
            }
        }
        let next = with(best, key, best.numbers[key] - 1.0);
        let (bound, below) = match self.tuning.admits(&next)? {
            Some(false) => (Bound::Admission, self.at(&next)?),
            _ => (Bound::Measured, below),
        };
        let below = Below { value: below.values[key].clone(), why: below.why() };
        Ok(Least { chosen: self.chosen(key, best), bound, below: Some(below) })
    }

    fn chosen(&self, key: usize, best: &Trial) -> TunedKey {
        TunedKey::new(&self.tuning.minimise[key], &best.values[key])
    }

    /// Where the plan below is not admitted, goes to the smallest value that is, which the test
    /// finds without a run: what holds longer by it alone is admitted with every larger value.
    fn tighten(&mut self, key: usize, best: &mut Trial, below: &mut Trial) -> Result<(), Error> {
        let (mut low, mut high) = (below.numbers[key], best.numbers[key]);
        if self.tuning.admits(&with(best, key, low))? != Some(false) {
            return Ok(());
        }
        while high - low > 1.0 {
            let between = low + ((high - low) / 2.0).floor();
            match self.tuning.admits(&with(best, key, between))? {
                Some(false) => low = between,
                _ => high = between,
            }
        }
        let edge = self.at(&with(best, key, high))?;
        let is_free = !self.tuning.choose.is_empty();
        if edge.holds {
            // Other values of the free keys may get below.
            if !is_free {
                *below = self.at(&with(best, key, low))?;
            }
            *best = edge;
        } else if !is_free {
            *below = edge;
        }
        Ok(())
    }

    /// A value between the one that fails and the one that holds, unless they are near enough.
    fn between(&self, key: usize, below: &Trial, best: &Trial) -> Option<f64> {
        let (low, high) = (below.numbers[key], best.numbers[key]);
        if high - low <= (self.tuning.search.precision * high).max(1.0) {
            return None;
        }
        let middle = if low > 0.0 { (low * high).sqrt() } else { high / 2.0 };
        Some(middle.round().clamp(low + 1.0, high - 1.0))
    }

    /// Values with which everything holds where a key has this one: those that did last, or others
    /// of the free keys.
    fn probe(&mut self, key: usize, value: f64, best: &Trial) -> Result<Option<Trial>, Error> {
        let all = best.numbers.len();
        self.within(&with(best, key, value), self.tuning.minimise.len()..all)
    }

    /// Values with which everything holds: these, or others of some keys.
    fn within(&mut self, values: &[f64], free: Range<usize>) -> Result<Option<Trial>, Error> {
        let first = self.at(values)?;
        if first.holds || free.is_empty() {
            return Ok(Some(first).filter(|trial| trial.holds));
        }
        let tuning = self.tuning;
        let keys: Vec<_> = tuning.keys().skip(free.start).take(free.len()).collect();
        let mut sampler = Sampler::new(keys.len(), tuning.search.trials, tuning.search.seed);
        let mut values = values.to_vec();
        for _ in 0..tuning.search.trials {
            let point = sampler.ask();
            for (at, (key, part)) in free.clone().zip(keys.iter().zip(&point)) {
                values[at] = key.at(*part);
            }
            let trial = self.at(&values)?;
            if trial.holds {
                return Ok(Some(trial));
            }
            sampler.tell(&point, trial.miss);
        }
        Ok(None)
    }

    /// What comes of values, which are tried once.
    fn at(&mut self, values: &[f64]) -> Result<Trial, Error> {
        let place: Vec<u64> = values.iter().map(|value| value.to_bits()).collect();
        if let Some(known) = self.places.get(&place) {
            return Ok(self.tried[*known].clone());
        }
        let before = self.runs;
        let heard = |StudyProgress { runs, done }: StudyProgress| {
            (self.heard)(StudyProgress { runs: before + runs, done: before + done })
        };
        if heard(StudyProgress { runs: 0, done: 0 }).is_break() {
            return Err(Error::Stopped);
        }
        let trial = self.tuning.judge(values, self.store, &heard)?;
        self.runs += trial.broken.as_ref().map_or(0, |_| self.tuning.study.seeds.len());
        self.places.insert(place, self.tried.len());
        self.tried.push(trial.clone());
        Ok(trial)
    }
}

/// The values of a trial with another one of a key.
fn with(trial: &Trial, key: usize, value: f64) -> Vec<f64> {
    let mut values = trial.numbers.clone();
    values[key] = value;
    values
}
