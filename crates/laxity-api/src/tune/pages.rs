//! What a search found, as text, figures and a page.

use std::cmp::Ordering;

use laxity_report::chart::{Along, Axis, Chart, Dash, Figure, Mark, Marker, Series, Style, Unit};
use laxity_report::format::Format;
use laxity_report::parts::{self, Part};
use laxity_report::quantity::NOTHING;
use laxity_report::table::table;

use super::{Bound, Goal, GoalResult, Key, Kind, Least, Trial, TuneResult, TunedKey, Tuning};

const CAPTION: &str = "Every point is a plan that was run: the worst figure of all seeds.";

type Table = (Vec<String>, Vec<Vec<String>>);

impl TuneResult {
    /// What was sought, found, and binds, and what is proved.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.headline());
        if self.found {
            text += &format!("\n{}\n", shown(&self.sought()));
        }
        if !self.best.goals.is_empty() {
            text += &format!("\n{}\n", shown(&self.goals()));
        }
        let reasons = self.reasons();
        if !reasons.is_empty() {
            text += &format!("\n{}\n", reasons.join("\n"));
        }
        if let (Some(proof), Some((plan, _))) = (&self.proof, &self.plan) {
            text += &format!("\n{}", proof.text(plan));
        }
        text
    }

    /// The same as a page, with pictures of all that was tried.
    pub fn html(&self, tuning: &Tuning, title: &str) -> String {
        let sought = if self.found { self.sought() } else { Table::default() };
        let mut parts = vec![part("Sought and found", self.reasons(), sought)];
        if !self.best.goals.is_empty() {
            parts.push(part("Goals", Vec::new(), self.goals()));
        }
        for (at, goal) in tuning.goals.iter().enumerate() {
            let figure = self.figure(tuning, at);
            if figure.is_some() {
                let part = part(&goal.name(), Vec::new(), Table::default());
                parts.push(Part { figure, ..part });
            }
        }
        let all = vec!["All that was tried, the best first.".to_owned()];
        parts.push(part("Tried", all, self.tried(tuning)));
        let statement = self.best.statement().unwrap_or(NOTHING.to_owned());
        let about = [("Found", self.headline()), ("Admission test", statement)];
        parts::html(title, &about, &parts, CAPTION, None)
    }

    /// The worst figure of a goal over the keys, of all that was run; none if nothing was.
    pub fn figure(&self, tuning: &Tuning, goal: usize) -> Option<Figure<'static>> {
        if self.trials.iter().all(|trial| worst(trial, goal).is_none()) {
            return None;
        }
        let asked = &tuning.goals[goal];
        let (unit, scale) = Format::new(&asked.figure).unit();
        let limit = asked.limit.number();
        let chart = |(at, key): (usize, &Key)| {
            let (key_unit, key_scale) = match key.kind {
                Kind::Of(quantity) => quantity.unit(),
                Kind::Whole | Kind::Real => (Unit::Number, 1.0),
            };
            let series = |name, subject, holds| {
                let tried = self.trials.iter().filter(|trial| trial.holds == holds);
                let point = |trial: &Trial| {
                    Some((trial.numbers[at] * key_scale, worst(trial, goal)? * scale))
                };
                let points = tried.filter_map(point).collect();
                Series::new(name, Mark::Points, Style::new(subject), points)
            };
            let marker = |along, at, meaning, dash| {
                Marker::new(along, at, meaning, Style::default().dashed(dash))
            };
            let goal = marker(Along::X, limit * scale, "goal", Dash::Dashed);
            let found = self.found.then(|| self.best.numbers[at] * key_scale);
            let found = found.map(|at| marker(Along::Y, at, "found", Dash::Dotted));
            let series = vec![series("all holds", 0, true), series("not", 1, false)];
            let points = series.iter().flat_map(|series| &series.points);
            let values = points.map(|(_, value)| *value).chain([limit * scale]);
            Chart {
                title: String::new(),
                x: Axis::log_if(key.is_log, &key.path.to_string(), key_unit),
                y: Axis::fitting(values, "", unit),
                series,
                markers: std::iter::once(goal).chain(found).collect(),
            }
        };
        let title = format!("{}, {}", asked.name(), asked.asked());
        Some(Figure::panels(&title, tuning.keys().enumerate().map(chart).collect(), 2))
    }

    fn headline(&self) -> String {
        let tried = self.trials.len();
        if self.found {
            format!("Found, of {tried} combinations that were tried.")
        } else {
            format!("NOT FOUND: none of {tried} combinations that were tried holds.")
        }
    }

    /// Why nothing smaller is found, or nothing at all.
    fn reasons(&self) -> Vec<String> {
        if !self.found {
            let values = self.keys.iter().zip(&self.best.values);
            let values: Vec<String> =
                values.map(|(key, value)| format!("{key} = {value}")).collect();
            let why = self.best.why().join("; ");
            return vec![format!("Nearest, with {}: {why}", values.join(", "))];
        }
        let reason = |least: &Least| match (&least.below, least.bound) {
            (Some(below), bound) => {
                let how = if bound == Bound::Admission { "proved" } else { "measured" };
                let (key, value) = (&least.chosen.key, &below.value);
                format!("{key} = {value} is too small ({how}): {}", below.why.join("; "))
            }
            (None, _) => format!("{} is as small as its range lets it.", least.chosen.key),
        };
        self.minimised.iter().map(reason).collect()
    }

    fn sought(&self) -> Table {
        let header = ["key", "from", "to", "found", "bound"].map(str::to_owned).to_vec();
        let bound = |bound| match bound {
            Bound::Range => "range",
            Bound::Admission => "admission",
            Bound::Measured => "measured",
        };
        let row = |TunedKey { key, range: [from, to], value }: &TunedKey, bound: &str| {
            [key, from, to, value]
                .map(String::clone)
                .into_iter()
                .chain([bound.to_owned()])
                .collect()
        };
        let least = self.minimised.iter().map(|one| row(&one.chosen, bound(one.bound)));
        let chosen = self.chosen.iter().map(|one| row(one, "free"));
        (header, least.chain(chosen).collect())
    }

    fn goals(&self) -> Table {
        let header = ["goal", "asked", "worst", "seed", "holds"].map(str::to_owned).to_vec();
        let row = |reached: &GoalResult| {
            let holds = if reached.holds() { "yes" } else { "no" };
            let (goal, seed) = (&reached.goal, reached.seed.to_string());
            vec![goal.name(), goal.asked(), reached.worst_text(), seed, holds.to_owned()]
        };
        (header, self.best.goals.iter().map(row).collect())
    }

    fn tried(&self, tuning: &Tuning) -> Table {
        let mut header = self.keys.clone();
        header.extend(["admitted", "promises"].map(str::to_owned));
        header.extend(tuning.goals.iter().map(Goal::name));
        let row = |trial: &Trial| {
            let mut row = trial.values.clone();
            let admitted = match trial.admitted() {
                Some(true) => "yes",
                Some(false) => "no",
                None => NOTHING,
            };
            let kept = match &trial.broken {
                Some(seeds) if seeds.is_empty() => "kept",
                Some(_) => "broken",
                None => NOTHING,
            };
            row.extend([admitted, kept].map(str::to_owned));
            let worst = |goal| trial.goals.get(goal).map(GoalResult::worst_text);
            let goals = 0..tuning.goals.len();
            row.extend(goals.map(|goal| worst(goal).unwrap_or(NOTHING.to_owned())));
            row
        };
        let mut best_first: Vec<&Trial> = self.trials.iter().collect();
        best_first.sort_by(|a, b| {
            let numbers = a.numbers.iter().zip(&b.numbers).map(|(a, b)| a.total_cmp(b));
            a.miss.total_cmp(&b.miss).then(numbers.fold(Ordering::Equal, Ordering::then))
        });
        (header, best_first.into_iter().map(row).collect())
    }
}

/// The worst figure of a goal, if it was measured.
fn worst(trial: &Trial, goal: usize) -> Option<f64> {
    trial.goals.get(goal)?.worst
}

fn part(heading: &str, sentences: Vec<String>, (header, rows): Table) -> Part {
    Part { heading: heading.to_owned(), sentences, figure: None, header, rows, words: usize::MAX }
}

fn shown((header, rows): &Table) -> String {
    table(header, rows)
}
