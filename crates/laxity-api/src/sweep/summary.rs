//! Over the seeds of each combination: means, intervals and quantiles.

use laxity_answers::seeds::Spread;
use laxity_report::chart::Figure;
use laxity_report::quantity::{self, TimeUnit};
use laxity_report::seeds::{Format, subject};
use laxity_report::study::{self, Over, Panel, Part, html};
use laxity_report::table::table;
use serde::{Deserialize, Serialize};

use super::store::{columns, plain};
use super::{Error, Job, Row, Space, Store, Study, is_scheduler};

/// A figure of a class over the seeds of a combination.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Line {
    /// The values of the keys that vary, in their order; absent where the plan's own counts.
    pub point: Vec<Option<String>>,
    /// The scheduler.
    pub scheduler: String,
    /// The class, or `link`.
    pub class: String,
    /// The output of a network; absent for one link, and from end to end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// What it is, as summaries call it.
    pub figure: String,
    /// Over the seeds.
    #[serde(flatten)]
    pub spread: Spread,
}

/// What a study came to.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Summary {
    /// The keys that vary.
    pub keys: Vec<String>,
    /// How many runs there are, and how many of them are in the store.
    pub runs: [usize; 2],
    /// Figures by combination, class and figure.
    pub lines: Vec<Line>,
}

impl Line {
    /// Whose it is, as tables say.
    fn subject(&self) -> String {
        subject(&self.class, self.at.as_deref())
    }
}

impl Summary {
    /// Of what the store has of a study's [jobs](Job::all), of figures with one of these names; of
    /// all if there are none.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn read(
        study: &Study,
        jobs: &[Job],
        store: &Store,
        figures: &[String],
    ) -> Result<Summary, Error> {
        let (mut lines, mut found) = (Vec::new(), 0);
        for jobs in jobs.chunk_by(|a, b| a.point == b.point) {
            let mut groups: Vec<(Row, Vec<f64>)> = Vec::new();
            for job in jobs {
                let Some(rows) = store.rows(job)? else { continue };
                found += 1;
                for row in rows
                    .into_iter()
                    .filter(|row| figures.is_empty() || figures.contains(&row.figure))
                {
                    let same = |known: &Row| {
                        (&known.class, &known.at, &known.figure)
                            == (&row.class, &row.at, &row.figure)
                    };
                    match groups.iter_mut().find(|(known, _)| same(known)) {
                        Some((_, values)) => values.push(row.value),
                        None => groups.push((row.clone(), vec![row.value])),
                    }
                }
            }
            let of = &jobs[0];
            lines.extend(groups.into_iter().filter_map(|(row, values)| {
                let point = of.point.iter().map(|value| Some(plain(value.as_ref()?).to_owned()));
                Some(Line {
                    point: point.collect(),
                    scheduler: of.scheduler.to_string(),
                    class: row.class,
                    at: row.at,
                    figure: row.figure,
                    spread: Spread::new(&values)?,
                })
            }));
        }
        let keys = study.space.keys.iter().map(ToString::to_string).collect();
        Ok(Summary { keys, runs: [jobs.len(), found], lines })
    }

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
                figure: figure.clone(),
                picture: self.figure(&study.space, figure),
                words,
                header,
                rows,
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
        html(title, &about, &parts)
    }

    /// A figure over the first key whose values are numbers, a panel a class; none if no number
    /// varies.
    pub fn figure(&self, space: &Space, figure: &str) -> Option<Figure<'static>> {
        let axis =
            columns(space).into_iter().find_map(|column| Some((column.key, column.axis()?)))?;
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
            is_log: space.is_log(key, |value| read(plain(value))),
            is_sampled: sampled.contains(&key),
        };
        Some(study::figure(&over, &panels)).filter(|_| !panels.is_empty())
    }

    fn cells(&self, figure: &str) -> (Vec<String>, Vec<Vec<String>>) {
        let shown = Format::of(figure);
        let lines = || self.lines.iter().filter(|line| line.figure == figure);
        let unit =
            TimeUnit::of(lines().flat_map(|line| [line.spread.mean, line.spread.p95]).map(Some));
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
