//! How delays differ from seed to seed: a panel a class.

use laxity_answers::seeds::{Seeds, Spread};
use laxity_answers::verdict::JudgedRun;
use laxity_sim::summary::{DelaySummary, Measures};

use crate::chart::{Along, Axis, Chart, Dash, Figure, Mark, Marker, Scale, Series, Style, Unit};
use crate::figures::{DEADLINE, NS, promise_lines, shown};
use crate::quantity::shortened;

/// Seeds of more digits are counted from the first, for their labels would run into each other.
const LARGEST_SEED: u64 = 1_000_000;
/// Longest name of a scheduler in a label.
const NAME_LIMIT: usize = 16;

/// A figure of the delays of a class.
type DelayFigure = fn(&DelaySummary) -> u64;

const P99: DelayFigure = |delay| delay.p99;
const LARGEST: DelayFigure = |delay| delay.max;

pub(super) const CAPTION: &str = "Every mark is a seed. A thin line is the mean of the marks of its colour, between \
    the ends of its confidence interval of 95 % (Student's t).";

/// The largest delay and the 99th percentile of every seed, beside what is promised.
pub(super) fn delays(seeds: &Seeds) -> Figure<'static> {
    let run = Run::new(seeds);
    let chart = |class: usize| {
        let figures = [("largest", LARGEST), ("p99", P99)].into_iter().enumerate();
        let parts = figures.map(|(at, (name, of))| run.part(class, name, Style::new(at), of));
        let (series, mut markers) = together(parts);
        markers.extend(promise_lines(&run.classes[class], "", Style::default()));
        panel(&run, class, series, markers)
    };
    Figure::panels("Delay by seed", run.shown().map(chart).collect(), 2)
}

/// One figure of the delays under several schedulers.
fn compared(title: &str, of: DelayFigure, seeds: &[Seeds]) -> Figure<'static> {
    let runs: Vec<Run<'_>> = seeds.iter().map(Run::new).collect();
    let Some(first) = runs.first() else { return Figure::panels(title, Vec::new(), 2) };
    let chart = |class: usize| {
        let name = first.classes[class].class;
        let drawn = seeds.iter().zip(&runs).enumerate();
        let drawn = drawn.filter_map(|(subject, (seeds, run))| {
            let same = run.classes.iter().position(|other| other.class == name)?;
            Some((subject, &seeds.scheduler, run, same))
        });
        let drawn: Vec<_> = drawn.collect();
        let (series, mut markers) =
            together(drawn.iter().map(|(subject, scheduler, run, same)| {
                run.part(*same, scheduler, Style::new(*subject), of)
            }));
        for (subject, scheduler, run, same) in drawn {
            let whose = format!("{}: ", shortened(scheduler, NAME_LIMIT));
            let promises = promise_lines(&run.classes[same], &whose, Style::new(subject));
            // The deadline is the same under all.
            markers.extend(promises.filter(|promise| subject == 0 || promise.meaning != DEADLINE));
        }
        panel(first, class, series, markers)
    };
    Figure::panels(title, first.shown().map(chart).collect(), 2)
}

/// The same of several schedulers: the largest delays, and the 99th percentiles.
pub(super) fn delays_compared(seeds: &[Seeds]) -> [Figure<'static>; 2] {
    [
        compared("Largest delay by seed", LARGEST, seeds),
        compared("99th percentile of delays by seed", P99, seeds),
    ]
}

fn together(parts: impl Iterator<Item = (Series, Vec<Marker>)>) -> (Vec<Series>, Vec<Marker>) {
    let (series, markers): (Vec<_>, Vec<_>) = parts.unzip();
    (series, markers.into_iter().flatten().collect())
}

fn panel(run: &Run<'_>, class: usize, series: Vec<Series>, markers: Vec<Marker>) -> Chart {
    let points = series.iter().flat_map(|series| &series.points).map(|(_, delay)| *delay);
    let all = points.chain(markers.iter().map(|marker| marker.at)).filter(|delay| *delay > 0.0);
    let all: Vec<f64> = all.collect();
    let (least, most) =
        all.iter().fold((f64::INFINITY, 0.0f64), |(least, most), v| (least.min(*v), most.max(*v)));
    let y = Axis::fitting(all.into_iter(), "", Unit::Time);
    // With room for what is written on the uppermost line.
    let range = match y.scale {
        Scale::Log => Some((least / 1.4, most * (most / least).powf(0.15))),
        Scale::Linear => Some((0.0, most * 1.25)),
    };
    let label = match run.beyond {
        0 => "Seed".to_owned(),
        beyond => format!("Seed, beyond {beyond}"),
    };
    // Half a seed at each end, so that no mark lies on an axis.
    let (first, last) = (run.place(0), run.place(run.seeds.len().saturating_sub(1)));
    Chart {
        title: run.classes[class].class.to_owned(),
        x: Axis::linear(&label, Unit::Count).within(Some((first - 0.5, last + 0.5))),
        y: y.within(range),
        series,
        markers,
    }
}

/// What is drawn of a scheduler.
struct Run<'a> {
    seeds: &'a [u64],
    /// What is taken from seeds.
    beyond: u64,
    /// The classes of the first seed.
    classes: Vec<Measures<'a>>,
    /// Whether any seed broke a promise of a class.
    is_late: Vec<bool>,
    /// The delays of every class, seed by seed.
    delays: Vec<Vec<Option<&'a DelaySummary>>>,
}

impl<'a> Run<'a> {
    fn new(seeds: &'a Seeds) -> Run<'a> {
        let classes = |run: &'a JudgedRun| -> Vec<Measures<'a>> {
            run.summary.classes().into_iter().map(|(_, class)| class).collect()
        };
        let runs: Vec<_> = seeds.runs.iter().map(classes).collect();
        let classes = runs.first().cloned().unwrap_or_default();
        let is_late = |at: usize| runs.iter().filter_map(|run| run.get(at)).any(Measures::is_late);
        let is_late = (0..classes.len()).map(is_late).collect();
        let of_class = |at: usize| runs.iter().map(|run| run.get(at)?.delay).collect();
        let delays = (0..classes.len()).map(of_class).collect();
        let is_short = seeds.seeds.last().is_none_or(|last| *last <= LARGEST_SEED);
        let beyond = if is_short { 0 } else { seeds.seeds[0].saturating_sub(1) };
        Run { seeds: &seeds.seeds, beyond, classes, is_late, delays }
    }

    /// Where the seed of this place is drawn.
    fn place(&self, at: usize) -> f64 {
        self.seeds.get(at).map_or(0.0, |seed| (seed - self.beyond) as f64)
    }

    /// The places of the classes that are drawn.
    fn shown(&self) -> impl Iterator<Item = usize> + use<'a> {
        shown(self.is_late.clone().into_iter(), |is_late| *is_late).into_iter().map(|(at, _)| at)
    }

    /// The marks of a class, and the lines of their mean and of its interval.
    fn part(
        &self,
        class: usize,
        name: &str,
        style: Style,
        of: DelayFigure,
    ) -> (Series, Vec<Marker>) {
        let delay = |delay: &Option<&DelaySummary>| delay.map(|delay| of(delay) as f64 * NS);
        let delays: Vec<Option<f64>> = self.delays[class].iter().map(delay).collect();
        let values: Vec<f64> = delays.iter().flatten().copied().collect();
        let point = |(at, delay): (usize, &Option<f64>)| Some((self.place(at), (*delay)?));
        let points = delays.iter().enumerate().filter_map(point).collect();
        let series = Series::new(name, Mark::Points, style.dashed(Dash::Solid), points);
        let spread =
            Spread::new(&values).and_then(|spread| Some((spread.mean, spread.half_width?)));
        let line = |at: f64, meaning: &str, dash| {
            Marker::new(Along::X, at, meaning, Style { dash, faint: true, ..style })
        };
        let lines = spread.map(|(mean, half)| {
            let ends = if half > 0.0 { vec![mean - half, mean + half] } else { Vec::new() };
            let ends = ends.into_iter().filter(|end| *end >= 0.0);
            let ends = ends.map(|end| line(end, "interval of the mean", Dash::Short));
            std::iter::once(line(mean, "mean", Dash::Solid)).chain(ends).collect()
        });
        (series, lines.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Paper;
    use crate::testing::sample;
    use laxity_answers::verdict::HeldTo;

    const MS: u64 = 1_000_000;

    /// A class with a deadline and one without, for `count` seeds that begin at `from`. With each
    /// seed delays are a millisecond longer.
    fn seeds(from: u64, count: u64) -> Seeds {
        let run = |at| {
            let (mut run, _) = sample::run(1, 1);
            run.seed = from + at;
            for class in &mut run.hops[0].classes {
                let delay = class.delay_ns.as_mut().unwrap();
                (delay.p99, delay.max) = ((2 + at) * MS, (4 + at) * MS);
            }
            run
        };
        Seeds::new(&sample::plan(), HeldTo::Plan, None, (0..count).map(run).collect())
    }

    fn drawn(figure: &Figure<'_>) -> String {
        figure.svg().replace('\u{a0}', " ")
    }

    #[test]
    fn seeds_and_promises_tell_their_values() {
        let svg = drawn(&delays(&seeds(7, 3)));
        // The mean of 2, 3 and 4 ms is 3 ms, give or take t(0.975; 2) / sqrt(3) ms.
        for told in [
            "p99: 2 ms at 7",
            "p99: 4 ms at 9",
            "largest: 6 ms at 9",
            "mean: 3 ms",
            "interval of the mean: 5.484 ms",
            "interval of the mean: 515.9 µs",
            "bound: 9 ms",
            "deadline: 10 ms",
        ] {
            assert!(svg.contains(&format!("<title>{told}</title>")), "{told} in {svg}");
        }
        assert!(svg.contains(">Seed<") && svg.contains(">be-0<"));
    }

    #[test]
    fn schedulers_are_told_apart() {
        let (edf, mut fifo) = (seeds(1, 2), seeds(1, 2));
        fifo.scheduler = "fifo".into();
        let [largest, p99] = delays_compared(&[edf, fifo]).map(|figure| drawn(&figure));
        assert!(largest.contains("<title>fifo: 5 ms at 2</title>"), "{largest}");
        assert!(p99.contains("<title>edf: 3 ms at 2</title>"), "{p99}");
        assert_eq!(largest.matches("<title>deadline: 10 ms</title>").count(), 1);
        assert!(largest.contains("edf: bound 9 ms, fifo: bound 9 ms"), "{largest}");
    }

    #[test]
    fn any_seeds_have_a_place() {
        for (from, count, labelled) in
            [(1, 1, ">Seed<"), (u64::MAX - 4, 4, "Seed, beyond 1844674407")]
        {
            for paper in [Paper::Wide, Paper::Narrow] {
                let svg = delays(&seeds(from, count)).on(paper);
                assert!(svg.contains(labelled) && !svg.contains("NaN"), "{svg}");
                assert_eq!(svg.matches("<title>p99: ").count(), 2 * count as usize);
            }
        }
        assert_eq!(drawn(&delays(&seeds(3, 1))).matches("mean").count(), 0);
        let nothing: &[Seeds] = &[];
        assert!(delays_compared(nothing).iter().all(|figure| figure.svg().contains("by seed")));
    }
}
