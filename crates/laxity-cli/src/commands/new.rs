//! `laxity new`: plans for an access link, from a few answers or from a router's settings.

mod questions;

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::Path;

use laxity::units::Rate;
use laxity_api::CheckResult;
use laxity_api::exchange::LARGEST;
use laxity_api::exchange::router::Router;
use laxity_api::household::{
    AccessLink, Application, Direction, Household, HouseholdError, HouseholdPlan, Misfit,
    RouterError, Side, Tool, read_router,
};
use serde::Serialize;

use self::questions::Questions;
use crate::args::New;
use crate::failure::Failure;
use crate::output::write_all_new;
use crate::{Promises, input, show, terminal};

/// What holds where nothing is said and nobody is asked.
const DEVICES: u32 = 4;

/// Carries the command out.
pub(crate) fn run(arguments: &New) -> Result<Promises, Failure> {
    let household = match arguments.from.as_deref() {
        Some([tool, file]) => from_router(arguments, tool, Path::new(file))?,
        _ => from_answers(arguments)?,
    };
    let plans = match household.plans() {
        Ok(plans) => plans,
        Err(HouseholdError::Misfit(misfit)) => return refuse(arguments, &misfit),
        Err(error) => return Err(Failure::input(error)),
    };
    let names = plans.each_ref().map(|plan| format!("{}.toml", plan.direction));
    let files: Vec<(&str, &str)> =
        names.iter().zip(&plans).map(|(name, plan)| (name.as_str(), plan.text.as_str())).collect();
    write_all_new(&arguments.out, &files)?;
    let notes = &household.remarks;
    if !arguments.json {
        terminal::notes(notes);
    }
    let [up, down] = plans.each_ref().map(|plan| WrittenPlan::new(plan, &arguments.out));
    let answer = Answer { up, down, notes };
    show(arguments.json, &answer, || text(&plans, &answer))?;
    Ok(Promises::Kept)
}

/// The plans that were written.
#[derive(Serialize)]
struct Answer<'a> {
    up: WrittenPlan<'a>,
    down: WrittenPlan<'a>,
    notes: &'a [String],
}

/// A plan that was written, and what is proved of it.
#[derive(Serialize)]
struct WrittenPlan<'a> {
    plan: String,
    rate_bps: u64,
    #[serde(flatten)]
    checked: &'a CheckResult,
}

impl<'a> WrittenPlan<'a> {
    fn new(plan: &'a HouseholdPlan, folder: &Path) -> WrittenPlan<'a> {
        let name = format!("{}.toml", plan.direction);
        let file = if folder == Path::new(".") { name.into() } else { folder.join(name) };
        WrittenPlan {
            plan: file.display().to_string(),
            rate_bps: plan.plan.link.rate.0,
            checked: &plan.checked,
        }
    }
}

fn text(plans: &[HouseholdPlan; 2], answer: &Answer<'_>) -> String {
    let proofs = plans.iter().map(|plan| plan.checked.text(&plan.plan) + "\n");
    let [up, down] = [&answer.up.plan, &answer.down.plan];
    proofs.collect::<String>()
        + &format!(
            "Plans: {up} and {down}, to be read and changed\n\
             Try:   laxity run {up}\n\
             Then:  laxity live {up} --dev INTERFACE --ingress {down}\n"
        )
}

/// A link that is too small, and what fits.
#[derive(Serialize)]
struct Refusal {
    admitted: bool,
    statement: String,
    direction: &'static str,
    link_bps: u64,
    needed_bps: Option<u64>,
    applications: Vec<&'static str>,
    fitting: Vec<&'static str>,
    hosts: u32,
    fitting_hosts: Option<u32>,
}

fn refuse(arguments: &New, misfit: &Misfit) -> Result<Promises, Failure> {
    let words = |all: &[Application]| all.iter().map(|one| one.word).collect();
    let refusal = Refusal {
        admitted: false,
        statement: format!("{misfit}."),
        direction: misfit.direction.word(),
        link_bps: misfit.link.0,
        needed_bps: misfit.needed.map(|rate| rate.0),
        applications: words(&misfit.applications),
        fitting: words(&misfit.fitting),
        hosts: misfit.devices,
        fitting_hosts: misfit.fitting_devices,
    };
    show(arguments.json, &refusal, || format!("NOT ADMITTED. {misfit}. Nothing was written.\n"))?;
    Ok(Promises::kept_if(false))
}

/// Whether people are asked for what is not given.
fn asks(arguments: &New) -> bool {
    !arguments.yes && io::stdin().is_terminal() && io::stderr().is_terminal()
}

fn from_answers(arguments: &New) -> Result<Household, Failure> {
    let mut questions = asks(arguments).then(|| Questions::new(io::stdin().lock()));
    let missing = |option: &str| {
        Failure::input(format!(
            "{option} is not given, and nobody is asked outside of a terminal: give {option}, or --yes for a \
             link of ethernet, calls and {DEVICES} hosts where they are not given; --up and --down are always needed"
        ))
    };
    let link = match (arguments.link, &mut questions) {
        (Some(link), _) => link,
        (None, Some(questions)) => questions.link()?,
        (None, None) if arguments.yes => {
            "ethernet".parse::<AccessLink>().map_err(Failure::input)?
        }
        (None, None) => return Err(missing("--link")),
    };
    let mut rate = |given: Option<Rate>, direction: Direction| match (given, &mut questions) {
        (Some(rate), _) => Ok(rate),
        (None, Some(questions)) => questions.rate(direction),
        (None, None) => Err(missing(&format!("--{direction}"))),
    };
    let (up, down) = (rate(arguments.up, Direction::Up)?, rate(arguments.down, Direction::Down)?);
    let applications = match (&arguments.applications, &mut questions) {
        (Some(words), _) => chosen(words),
        (None, Some(questions)) => questions.applications()?,
        (None, None) if arguments.yes => vec![Application::CALLS],
        (None, None) => return Err(missing("--for")),
    };
    let devices = match (arguments.hosts, &mut questions) {
        (Some(devices), _) => devices,
        (None, Some(questions)) => questions.devices(DEVICES)?,
        (None, None) if arguments.yes => DEVICES,
        (None, None) => return Err(missing("--hosts")),
    };
    Ok(Household {
        up: Side::new(&link, up, Direction::Up),
        down: Side::new(&link, down, Direction::Down),
        applications,
        devices,
        rules: Vec::new(),
        remarks: Vec::new(),
    })
}

/// What is named, each once.
fn chosen(words: &[Option<Application>]) -> Vec<Application> {
    Application::ALL.into_iter().filter(|one| words.contains(&Some(*one))).collect()
}

fn from_router(arguments: &New, tool: &OsString, file: &Path) -> Result<Household, Failure> {
    let tool: Tool = tool
        .to_string_lossy()
        .parse()
        .map_err(|error| Failure::input(format!("--from {}: {error}", tool.to_string_lossy())))?;
    let name = input::shown(file);
    let text = input::text(file, LARGEST as u64)?;
    let router = read_router(tool, &text, &name).map_err(|error| match error {
        RouterError::Script(error) => error.into(),
        RouterError::Setting(error) if error.place().is_some() => {
            Failure::input(format!("{name}:{error}"))
        }
        error => Failure::input(format!("{name}: {error}")),
    })?;
    let mut questions =
        (asks(arguments) && !input::is_stdin(file)).then(|| Questions::new(io::stdin().lock()));
    let (up, down) = (
        side(arguments, &router, tool, Direction::Up)?,
        side(arguments, &router, tool, Direction::Down)?,
    );
    let applications = match (&arguments.applications, &mut questions) {
        (Some(words), _) => chosen(words),
        (None, Some(questions)) => questions.applications()?,
        (None, None) => vec![Application::CALLS],
    };
    let devices = match (arguments.hosts, &mut questions) {
        (Some(devices), _) => devices,
        (None, Some(questions)) => questions.devices(DEVICES)?,
        (None, None) => DEVICES,
    };
    let interface = router.interface.map(|name| format!(" for {name}")).unwrap_or_default();
    let origin = format!("read from the settings of {tool} in {name}{interface}");
    let remarks = [origin].into_iter().chain(router.notes).collect();
    Ok(Household { up, down, applications, devices, rules: router.rules, remarks })
}

/// One direction of a router, with the rate that is given or the one that it shapes to.
fn side(
    arguments: &New,
    router: &Router,
    tool: Tool,
    direction: Direction,
) -> Result<Side, Failure> {
    let (given, shaper) = match direction {
        Direction::Up => (arguments.up, router.up),
        Direction::Down => (arguments.down, router.down),
    };
    Side::from_router(&shaper, given, tool, direction).ok_or_else(|| {
        Failure::input(format!(
            "{tool} does not shape {direction}, so the rate is not known: give --{direction} RATE"
        ))
    })
}
