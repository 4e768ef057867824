//! Over the seeds of each combination: means, intervals and quantiles.

use laxity_answers::seeds::Spread;
use serde::{Deserialize, Serialize};

use super::store::plain;
use super::{Job, Row, Store, Study};
use crate::Error;

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
}
