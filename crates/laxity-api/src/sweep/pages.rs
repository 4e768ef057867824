//! Studies as tables, figures and pages.

use laxity_answers::seeds::Spread;
use laxity_report::chart::{Axis, Chart, Dash, Figure, Mark, Series, Style, Unit};
use laxity_report::format::{Format, subject};
use laxity_report::parts::{Part, html};
use laxity_report::quantity::{self, TimeUnit};
use laxity_report::table::table;

use super::store::{Column, ColumnType, columns, plain};
use super::{Line, Space, Study, Summary, is_scheduler};

impl Summary {
    /// A table of a figure, each line a combination and class that has it.
    pub fn table(&self, figure: &str) -> String {
        let (header, rows) = self.cells(figure);
        table(&header, &rows)
    }

    /// Its figures as one HTML file, each a table and, if a number varies, a picture.
    pub fn html(&self, study: &Study, title: &str, figures: &[String]) -> String {
        let part = |figure: &String| {
            let (header, rows) = self.cells(figure);
            let words = header.iter().position(|head| head == "class").unwrap_or_default();
            Part {
                heading: Format::plain(figure),
                sentences: Vec::new(),
                figure: self.figure(&study.space, figure),
                header,
                rows,
                words,
            }
        };
        let parts: Vec<Part> = figures.iter().map(part).collect();
        let [runs, found] = self.runs;
        let about = [
            ("Plan", study.plan.display().to_string()),
            ("Varied", self.keys.join(", ")),
            ("Seeds", study.seeds.len().to_string()),
            ("Runs", if found == runs { runs.to_string() } else { format!("{found} of {runs}") }),
        ];
        html(title, &about, &parts, CAPTION, Some(EXPLAINED))
    }

    /// A figure over the first key whose values are numbers, a panel a class; none if no number
    /// varies.
    pub fn figure(&self, space: &Space, figure: &str) -> Option<Figure<'static>> {
        let axis =
            columns(space).into_iter().find_map(|column| Some((column.key, axis(&column)?)))?;
        let (key, (unit, read)) = axis;
        let sampled: Vec<usize> = (0..self.keys.len())
            .filter(|at| space.sampled.iter().any(|(path, _)| *path == space.keys[*at]))
            .collect();
        let mut panels: Vec<(String, Lines)> = Vec::new();
        for line in self.lines.iter().filter(|line| line.figure == figure) {
            let Some(x) = line.point[key].as_deref().and_then(&read) else { continue };
            let others = line.point.iter().enumerate();
            let others = others.filter(|(at, _)| *at != key && !sampled.contains(at));
            let mut words: Vec<&str> = others.filter_map(|(_, value)| value.as_deref()).collect();
            if words.is_empty() {
                words.push(&line.scheduler);
            }
            let lines = entry(&mut panels, line.subject());
            let Spread { mean, half_width, .. } = line.spread;
            entry(lines, words.join(", ")).push((x, mean, half_width));
        }
        for (_, points) in panels.iter_mut().flat_map(|(_, lines)| lines) {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        let is_log = is_log(space, key, |value| read(plain(value)));
        let x = Axis::log_if(is_log, &self.keys[key], unit);
        // Lines would join sampled values that have nothing to do with each other.
        let mark = if sampled.contains(&key) { Mark::Points } else { Mark::Beads };
        let title = format!("{} over {}", Format::plain(figure), self.keys[key]);
        let chart = |(class, lines)| chart(figure, class, lines, x.clone(), mark);
        let charts: Vec<Chart> = panels.into_iter().map(chart).collect();
        (!charts.is_empty()).then(|| Figure::panels(&title, charts, 2))
    }

    fn cells(&self, figure: &str) -> (Vec<String>, Vec<Vec<String>>) {
        let shown = Format::new(figure);
        let lines = || self.lines.iter().filter(|line| line.figure == figure);
        let unit =
            TimeUnit::new(lines().flat_map(|line| [line.spread.mean, line.spread.p95]).map(Some));
        let text = |value| shown.text(value, unit);
        let mut header = self.keys.clone();
        let has_key = self.keys.iter().any(|key| is_scheduler(key));
        if !has_key {
            header.push("scheduler".into());
        }
        header.push("class".into());
        header.push(shown.label(figure, unit));
        header.extend(["±", "p5", "p50", "p95", "seeds"].map(str::to_owned));
        let rows: Vec<Vec<String>> = lines()
            .map(|line| {
                let own = || "—".to_owned();
                let mut row: Vec<String> =
                    line.point.iter().map(|value| value.clone().unwrap_or_else(own)).collect();
                if !has_key {
                    row.push(line.scheduler.clone());
                }
                row.push(line.subject());
                let Spread { mean, half_width, p5, p50, p95, seeds } = &line.spread;
                row.push(text(*mean));
                row.push(half_width.map_or(quantity::NOTHING.to_owned(), text));
                row.extend([p5, p50, p95].map(|value| text(*value)));
                row.push(seeds.to_string());
                row
            })
            .collect();
        (header, rows)
    }
}

impl Line {
    /// The class, in networks with the output.
    fn subject(&self) -> String {
        subject(&self.class, self.at.as_deref())
    }
}

/// For each combination of the other keys: the value, the mean over the seeds, and half the width
/// of its confidence interval.
type Lines = Vec<(String, Vec<(f64, f64, Option<f64>)>)>;

/// What is known by a name; nothing at first.
fn entry<T: Default>(all: &mut Vec<(String, T)>, name: String) -> &mut T {
    let place = all.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
        all.push((name, T::default()));
        all.len() - 1
    });
    &mut all[place].1
}

/// Means of a figure over the seeds, each with its confidence interval of 95 %.
fn chart(figure: &str, class: String, lines: Lines, x: Axis, mark: Mark) -> Chart {
    let (unit, scale) = Format::new(figure).unit();
    let means = lines.iter().flat_map(|(_, points)| points).map(|(_, mean, _)| mean * scale);
    let y = Axis::fitting(means, "", unit);
    let series = lines.into_iter().enumerate().flat_map(|(subject, (name, points))| {
        let style = Style::new(subject);
        let means = points.iter().map(|&(x, mean, _)| (x, mean * scale)).collect();
        let interval = |&(x, mean, half): &(f64, f64, Option<f64>)| {
            let half = half.unwrap_or(f64::NAN);
            [(x, (mean - half) * scale), (x, (mean + half) * scale), (f64::NAN, f64::NAN)]
        };
        let intervals = points.iter().flat_map(interval).collect();
        let faint = Style { faint: true, ..style.dashed(Dash::Solid) };
        let intervals = Series::new("", Mark::Line, faint, intervals);
        [Series::new(name, mark, style, means), intervals]
    });
    Chart { title: class, x, y, series: series.collect(), markers: Vec::new() }
}

const CAPTION: &str = "Means over the seeds, with their confidence intervals of 95 %.";
/// What the tables mean, below them.
const EXPLAINED: &str = "± is half the width of the mean's confidence interval of 95 %, by Student's t. \
    5, 50 and 95 % of the runs do not exceed p5, p50 and p95.";

/// Reads a number.
type Reader = dyn Fn(&str) -> Option<f64>;

/// The unit of a column on the axis of a chart, and what reads its values; `None` for words.
fn axis(column: &Column) -> Option<(Unit, Box<Reader>)> {
    match column.column_type {
        ColumnType::Text => None,
        ColumnType::Number => Some((Unit::Number, Box::new(|text| text.parse().ok()))),
        ColumnType::Quantity(quantity) => {
            let (unit, scale) = quantity.unit();
            Some((unit, Box::new(move |text| Some(quantity.read(text)? as f64 * scale))))
        }
    }
}

/// Whether a key is drawn on a logarithmic axis: it is sampled on one, or its values grow by equal
/// factors.
fn is_log(space: &Space, key: usize, number: impl Fn(&str) -> Option<f64>) -> bool {
    match space.sampled.iter().find(|(path, _)| *path == space.keys[key]) {
        Some((_, range)) => range.is_log,
        None => {
            let values = space.values().swap_remove(key);
            are_even_by_logarithms(values.iter().filter_map(|value| number(value)).collect())
        }
    }
}

/// Whether three numbers or more, each above zero, grow by like factors rather than by like steps.
fn are_even_by_logarithms(mut numbers: Vec<f64>) -> bool {
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    if numbers.len() < 3 || numbers[0] <= 0.0 {
        return false;
    }
    let unevenness = |of: fn(f64) -> f64| {
        let steps = || numbers.windows(2).map(|pair| of(pair[1]) - of(pair[0]));
        steps().fold(0.0, f64::max) / steps().fold(f64::INFINITY, f64::min)
    };
    unevenness(f64::ln) < unevenness(|number| number) / 1.5
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::Range;

    #[test]
    fn numbers_that_grow_by_factors_are_known_from_those_that_grow_by_steps() {
        for (numbers, is_log) in [
            (&[1.0, 10.0, 100.0][..], true),
            (&[1.0, 2.0, 5.0, 10.0, 20.0, 50.0], true),
            (&[1.0, 2.0, 4.0, 8.0], true),
            (&[10.0, 20.0, 30.0], false),
            (&[1.0, 2.0, 3.0, 4.0], false),
            (&[0.0, 1.0, 10.0, 100.0], false),
            (&[-1.0, 10.0, 100.0], false),
            (&[1.0, 1000.0], false),
            (&[5.0, 5.0, 5.0, 50.0, 500.0], true),
        ] {
            assert_eq!(are_even_by_logarithms(numbers.to_vec()), is_log, "{numbers:?}");
        }
        let over = |log| {
            let range = Range::new("1", "100", log).unwrap();
            let mut space = Space {
                sampled: vec![("a".parse().unwrap(), range)],
                points: 9,
                ..Space::default()
            };
            space.settle().unwrap();
            is_log(&space, 0, |value| value.parse().ok())
        };
        assert!(over(true) && !over(false), "of a sample its range counts");
    }
}
