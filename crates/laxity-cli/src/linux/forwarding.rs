//! A forwarding process as a command: its plans, its settings, and what it shows.

use std::path::Path;
use std::sync::mpsc::Receiver;

use laxity_answers::advice::Advice;
use laxity_api::check;
use laxity_live::bypass::Bypass;
use laxity_live::process::{Keeper, PlanText, Printer, Request, Results, Text};
use laxity_live::reservations::{Clients, ClientsError};
use laxity_live::server::control_socket_of;
use laxity_live::status::Status;
use laxity_live::{Daemon, LiveError, Options};
use laxity_plan::Plan;
use laxity_plan::reader::PlanReader;
use laxity_report::words;

use super::report::Report;
use super::{control_socket, measurement, own_command};
use crate::args::{Live, Running};
use crate::failure::Failure;
use crate::{Promises, input, print, terminal};

/// Reads a plan.
pub(super) fn read(path: &Path) -> Result<PlanText, Failure> {
    let (plan, text) = input::plan_with_text(path, None, &[])?;
    Ok(PlanText { path: path.to_path_buf(), plan, text })
}

/// Whether a plan is admitted; shows why one is not.
pub(super) fn is_admitted(plan: &Plan) -> Result<bool, Failure> {
    let checked = check(plan)?;
    let is_refused = checked.admitted() == Some(false);
    if is_refused {
        print(&checked.text(plan))?;
    }
    Ok(!is_refused)
}

/// Runs a process at the places `ends`, which its control socket is named after, and shows what
/// was measured.
pub(super) fn forward(
    arguments: &Live,
    ends: &[&str],
    run: impl FnOnce(Daemon, &mut Terminal) -> Result<Status, LiveError>,
) -> Result<Promises, Failure> {
    let (ask, requests) = std::sync::mpsc::channel();
    let report = Report::begin(arguments.monitoring.report.as_deref())?;
    let orders = arguments.reserve_at.zip(arguments.clients.as_deref());
    let orders = orders.map(|(address, file)| Ok((address, Clients::read(file)?)));
    let orders = orders.transpose().map_err(|error: ClientsError| Failure::input(error))?;
    let control = control_socket_of(ends);
    let server = control_socket::serve(&arguments.monitoring, &control, orders, ask)?;
    let bypass = bypass(arguments)?;
    let printer = Printer::start(show).map_err(LiveError::from)?;
    let mut keeper = Terminal { kept: true, printer, report, bypass };
    let ended = run(daemon(arguments, requests), &mut keeper);
    // The interfaces are bridged, also after an error, before a slow reader is waited for.
    keeper.ending();
    let ended = ended?;
    drop(server);
    let Terminal { kept, printer, report, bypass: _ } = keeper;
    let report = report.map(|report| report.write(&ended)).transpose()?;
    printer.finish()?;
    print(&(measurement::losses_text(&ended) + &report.unwrap_or_default()))?;
    Ok(Promises::kept_if(kept))
}

fn show(text: Text) -> Result<(), Failure> {
    match text {
        Text::Result(text) => print(&text),
        Text::Remark(text) => {
            terminal::remark(&format!("laxity: {text}\n"));
            Ok(())
        }
    }
}

/// Starts what bridges the interfaces while this process does not forward between them.
fn bypass(arguments: &Live) -> Result<Option<Bypass>, Failure> {
    let (Some(from), Some(to)) = (&arguments.from, &arguments.to) else { return Ok(None) };
    if !arguments.bypass {
        return Ok(None);
    }
    let mut command = own_command();
    command.args(["live", "--guard", "--in", from, "--out", to]);
    command.args(["--priority", &arguments.running.priority.to_string()]);
    let started = Bypass::start(command, options(&arguments.running).priority);
    started.map(Some).map_err(|error| Failure::refused("cannot start the bypass", &error))
}

fn daemon(arguments: &Live, requests: Receiver<Request>) -> Daemon {
    Daemon {
        options: options(&arguments.running),
        duration: arguments.duration,
        read: read_again,
        advise: |plan, measured| Advice::new(plan, measured).map(|advice| words::advice(&advice)),
        explain: |reasons| words::statement(reasons),
        reservations: arguments.reservations.clone(),
        ledger: arguments.running.ledger.clone(),
        capture: arguments.running.capture(),
        names: arguments.names,
        history: arguments.history.clone(),
        has_bypass: arguments.bypass,
        requests,
        has_command: false,
    }
}

/// How the thread runs that forwards.
pub(crate) fn options(arguments: &Running) -> Options {
    let priority = (arguments.priority > 0).then_some(arguments.priority);
    Options { priority, core: arguments.core, awake: arguments.awake, ..Options::default() }
}

/// Reads a plan again and proves it. An error is a sentence.
fn read_again(reader: &mut PlanReader) -> Result<PlanText, String> {
    if input::is_stdin(reader.path()) {
        return Err("it came by standard input, which is read but once".into());
    }
    let (plan, text) = reader.read().map_err(|error| error.to_string())?;
    let sentence = |error: laxity_api::Error| error.to_string();
    if laxity_api::is_admitted(&plan).map_err(sentence)? == Some(false) {
        return Err(check(&plan).map_err(sentence)?.text(&plan));
    }
    Ok(PlanText { path: reader.path().to_path_buf(), plan, text })
}

/// Looks after the process from a terminal, or from where a service is looked after.
pub(super) struct Terminal {
    /// Whether what was promised was kept under all plans.
    kept: bool,
    printer: Printer<Failure>,
    report: Option<Report>,
    bypass: Option<Bypass>,
}

impl Keeper for Terminal {
    fn begun(&mut self) {
        self.bypass.iter().for_each(Bypass::begun);
    }

    fn ending(&mut self) {
        self.bypass = None;
    }

    fn say(&mut self, what: &str) {
        self.printer.print(Text::Remark(what.to_string()));
    }

    fn ended(&mut self, results: &Results<'_>) {
        let Results { way, network, .. } = results;
        self.kept &= results.verdict(None).is_kept();
        if let Some(report) = &mut self.report {
            report.add(results);
        }
        let text = measurement::ways_text(network.as_ref(), std::slice::from_ref(way));
        self.printer.print(Text::Result(text));
    }
}
