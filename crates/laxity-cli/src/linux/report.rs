//! The report of a link that was forwarded over or watched.

use std::collections::VecDeque;
use std::path::Path;

use laxity_answers::Proof;
use laxity_live::file::ReportFile;
use laxity_live::process::Results;
use laxity_live::status::history::History;
use laxity_live::status::{ClassStatus, DelayStatus, Status};
use laxity_report::admission::AdmissionView;
use laxity_report::link::{ClassReport, Delays, LinkReport, WayReport, html};
use laxity_report::quantity;

use super::measurement;
use crate::failure::Failure;

/// A report whose file is there, and which is written at the end.
pub(crate) struct Report {
    file: ReportFile,
    /// Of the last plan that has one.
    title: Option<String>,
    ways: VecDeque<WayReport>,
    /// Plans that there is no room for.
    left_out: u64,
}

/// A report shows at most the last plans that were followed.
const MOST: usize = 20;

impl Report {
    /// One in this file, if there is to be one. Call it before privileges are given up.
    pub(crate) fn begin(path: Option<&Path>) -> Result<Option<Report>, Failure> {
        let Some(path) = path else { return Ok(None) };
        let file = ReportFile::create(path).map_err(|error| {
            Failure::input(format!(
                "cannot write the report {}: {error}; give --report a file in a folder that can be written",
                path.display()
            ))
        })?;
        Ok(Some(Report { file, title: None, ways: VecDeque::new(), left_out: 0 }))
    }

    /// Adds what was measured of a direction, or of routers, under a plan.
    pub(crate) fn add(&mut self, results: &Results<'_>) {
        if self.ways.len() == MOST {
            self.ways.pop_front();
            self.left_out += 1;
        }
        self.title = results.way.title.clone().or(self.title.take());
        self.ways.push_back(way_report(results));
    }

    /// Writes it, and says where it is.
    pub(crate) fn write(self, status: &Status) -> Result<String, Failure> {
        let Report { file, title, ways, left_out } = self;
        let mut remarks: Vec<String> =
            measurement::losses_text(status).lines().map(str::to_string).collect();
        if left_out > 0 {
            let plans = measurement::plans(left_out);
            remarks.push(format!("{plans} that were followed before these are left out."));
        }
        let page = html(&LinkReport {
            title: title.unwrap_or_else(|| measurement::places(status)),
            facts: facts(status),
            remarks,
            ways: ways.into(),
        });
        let path = file.path().display().to_string();
        file.write(page).map_err(|error| Failure::refused(&path, &error))?;
        Ok(format!("Report: {path}\n"))
    }
}

fn facts(status: &Status) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("Interfaces", measurement::places(status)),
        ("Measured for", quantity::time(status.uptime_ns as f64)),
    ];
    let real_time = status.real_time.map(|is| if is { "yes" } else { "no" }.to_string());
    facts.extend(real_time.map(|is| ("Real-time priority", is)));
    facts.extend(status.reloads.map(|count| ("Reloads", count.to_string())));
    facts.push(("Laxity", status.version.clone()));
    facts
}

fn way_report(results: &Results<'_>) -> WayReport {
    let Results { plan, way, network, history: History { delays, sent } } = results;
    let drawn = delays.iter().zip(sent.bytes());
    let classes = way.classes.iter().zip(drawn).map(|(class, (spread, bytes))| {
        let throughput_bps = class.bytes_sent as f64 * 8e9 / sent.duration().0.max(1) as f64;
        let (spread, bytes) = (spread.clone(), bytes.clone());
        ClassReport { spread, bytes, throughput_bps, ..class_report(class) }
    });
    let proof = Proof::new(plan);
    let measured = match (&way.watched, network) {
        (Some(_), _) => "from one tap to the other",
        (None, Some(_)) => {
            "from the arrival at the first router here to the last bit out of the last"
        }
        (None, None) => "from a packet's last bit in to its last bit out",
    };
    let (headline, remarks) = match network {
        Some(network) => measurement::network::report(network, way),
        None => (measurement::lateness(way), measurement::remarks(way)),
    };
    WayReport {
        title: measurement::title(way),
        kept: results.verdict(proof.as_ref().and_then(Proof::admitted)).is_kept(),
        headline,
        remarks,
        admission: proof.map(|proof| AdmissionView::new(plan, &proof)),
        late: way.late.as_ref().map(delay_report),
        measured,
        unsent: measurement::unsent(way),
        rate_bps: way.rate_bps,
        duration_ns: sent.duration().0,
        interval_ns: sent.width().0,
        classes: classes.collect(),
    }
}

fn class_report(class: &ClassStatus) -> ClassReport {
    ClassReport {
        name: class.name.clone(),
        arrived: class.arrived,
        sent: class.sent,
        unsent: class.dropped.clone(),
        delay: class.delay_ns.as_ref().map(delay_report),
        deadline_ns: class.deadline_ns,
        bound_ns: class.bound_ns,
        bound_misses: class.bound_misses,
        ..ClassReport::default()
    }
}

fn delay_report(delays: &DelayStatus) -> Delays {
    let &DelayStatus { min, mean, p50, p99, p99_9, max, .. } = delays;
    Delays { min, mean, p50, p99, p99_9, max }
}
