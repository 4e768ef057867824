//! What was measured of an emulated link, shown beside what its command prints.

use std::fs;

use laxity_live::emulate::Program;
use laxity_live::file::ReportFile;
use laxity_live::process::{self, Results};
use laxity_live::status::Status;
use serde::Serialize;

use crate::args::Emulate;
use crate::failure::Failure;
use crate::linux::measurement;
use crate::linux::report::Report;
use crate::terminal;

/// Files that are there from the start, and written at the end.
pub(super) struct Files {
    report: Option<Report>,
    summary: Option<ReportFile>,
}

impl Files {
    /// Makes them, before privileges are given up.
    pub(super) fn begin(arguments: &Emulate) -> Result<Files, Failure> {
        let report = arguments.monitoring.report.as_deref();
        let Some(folder) = &arguments.out else {
            return Ok(Files { report: Report::begin(report)?, summary: None });
        };
        let unwritable = |error| Failure::unwritable(folder, &error);
        fs::create_dir_all(folder).map_err(unwritable)?;
        let summary = ReportFile::create(&folder.join("summary.json")).map_err(unwritable)?;
        let in_folder = folder.join("report.html");
        let report = Report::begin(Some(report.unwrap_or(&in_folder)))?;
        Ok(Files { report, summary: Some(summary) })
    }
}

/// Looks after the link: starts the command when the link is there, and takes results down.
pub(super) struct Keeper<'a> {
    program: &'a Program,
    results: LinkResults,
}

/// What was measured in both directions.
pub(super) struct LinkResults {
    text: String,
    files: Files,
}

#[derive(Serialize)]
struct Summary<'a> {
    exit_code: u8,
    #[serde(flatten)]
    status: &'a Status,
}

impl<'a> Keeper<'a> {
    pub(super) fn new(program: &'a Program, files: Files) -> Self {
        Keeper { program, results: LinkResults { text: String::new(), files } }
    }

    pub(super) fn into_results(self) -> LinkResults {
        self.results
    }
}

impl process::Keeper for Keeper<'_> {
    fn say(&mut self, what: &str) {
        terminal::remark(&format!("laxity: {what}\n"));
    }

    fn begun(&mut self) {
        self.program.begin();
    }

    fn ended(&mut self, results: &Results<'_>) {
        let LinkResults { text, files } = &mut self.results;
        *text += &measurement::ways_text(None, std::slice::from_ref(&results.way));
        if let Some(report) = &mut files.report {
            report.add(results);
        }
    }
}

impl LinkResults {
    /// Prints and writes them, with the exit code of the command.
    pub(super) fn show(
        self,
        arguments: &Emulate,
        status: &Status,
        exit_code: u8,
    ) -> Result<(), Failure> {
        let LinkResults { text, files: Files { report, summary } } = self;
        let summary_of = Summary { exit_code, status };
        let json = serde_json::to_string_pretty(&summary_of).map_err(Failure::system)? + "\n";
        let report = report.map(|report| report.write(status)).transpose()?.unwrap_or_default();
        if arguments.json {
            terminal::remark(&json);
        } else {
            terminal::remark(&(text + &measurement::losses_text(status) + &report));
        }
        if let Some(file) = summary {
            let path = file.path().display().to_string();
            file.write(json).map_err(|error| Failure::refused(&path, &error))?;
        }
        Ok(())
    }
}
