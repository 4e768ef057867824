//! Studies as tables, figures and pages.

use laxity_answers::seeds::Spread;
use laxity_report::chart::{Figure, Unit};
use laxity_report::format::{Format, subject};
use laxity_report::parts::{Part, html};
use laxity_report::quantity::{self, TimeUnit};
use laxity_report::study::{self, CAPTION, EXPLAINED, Over, Panel};
use laxity_report::table::table;

use super::store::{Column, Content, columns, plain};
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
        let mut panels: Vec<Panel> = Vec::new();
        for line in self.lines.iter().filter(|line| line.figure == figure) {
            let Some(x) = line.point[key].as_deref().and_then(&read) else { continue };
            let class = line.subject();
            let others = line.point.iter().enumerate();
            let others = others.filter(|(at, _)| *at != key && !sampled.contains(at));
            let mut words: Vec<&str> = others.filter_map(|(_, value)| value.as_deref()).collect();
            if words.is_empty() {
                words.push(&line.scheduler);
            }
            let name = words.join(", ");
            let place = panels.iter().position(|panel| panel.class == class).unwrap_or_else(|| {
                panels.push(Panel { class, lines: Vec::new() });
                panels.len() - 1
            });
            let lines = &mut panels[place].lines;
            let place = lines.iter().position(|known| known.name == name).unwrap_or_else(|| {
                lines.push(study::Line { name, points: Vec::new() });
                lines.len() - 1
            });
            lines[place].points.push((x, line.spread.mean, line.spread.half_width));
        }
        for line in panels.iter_mut().flat_map(|panel| &mut panel.lines) {
            line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        let over = Over {
            figure: figure.to_owned(),
            key: self.keys[key].clone(),
            unit,
            is_log: is_log(space, key, |value| read(plain(value))),
            is_sampled: sampled.contains(&key),
        };
        Some(study::figure(&over, &panels)).filter(|_| !panels.is_empty())
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

/// Reads a number.
type Reader = dyn Fn(&str) -> Option<f64>;

/// The unit of a column on the axis of a chart, and what reads its values; `None` for words.
fn axis(column: &Column) -> Option<(Unit, Box<Reader>)> {
    match column.content {
        Content::Text => None,
        Content::Number => Some((Unit::Number, Box::new(|text| text.parse().ok()))),
        Content::Quantity(quantity) => {
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
