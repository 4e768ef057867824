//! `laxity emulate`: a command behind an emulated link.

mod plans;
mod results;

use std::process::Command;
use std::sync::mpsc::{self, Sender};

use laxity_linux::interface::Interface;
use laxity_linux::namespace::{self, Namespace};
use laxity_live::emulate::{Ending, Masquerade, Place, Program, Relays, masquerade, place};
use laxity_live::process::Request;
use laxity_live::server::control_socket_of;
use laxity_live::{Daemon, LiveError};

use self::results::{Files, Keeper};
use super::control_socket;
use super::forwarding::{is_admitted, options};
use crate::args::Emulate;
use crate::failure::Failure;
use crate::{Promises, terminal};

/// Carries the command out.
pub(super) fn run(arguments: &Emulate) -> Result<Promises, Failure> {
    let plans = plans::read(arguments)?;
    // Before there are other threads.
    let is_able = namespace::is_able();
    namespace::become_able().map_err(system)?;
    for plan in &plans {
        if !is_admitted(&plan.plan)? {
            return Ok(Promises::Broken);
        }
    }
    let outside = if is_able { Namespace::current() } else { Namespace::new() };
    let place = outside.and_then(Place::new).map_err(system)?;
    let _masquerade = reach_out(&place, is_able)?;
    let (ask, requests) = mpsc::channel();
    let files = Files::begin(arguments)?;
    let name = format!("emulate-{}", std::process::id());
    let server = control_socket::serve(
        &arguments.monitoring,
        &control_socket_of(&[&name]),
        None,
        ask.clone(),
    )?;
    let program = start(arguments, &place, ask)?;
    // What is opened from here on is the link's.
    place.between.enter().map_err(system)?;
    let [inside, outside] = place::ENDS.map(|end| Interface::named(end).map_err(system));
    let daemon = Daemon {
        has_bypass: false,
        options: options(&arguments.running),
        duration: None,
        read: |_| Err("an emulated link follows its plan to the end".into()),
        advise: |_, _| None,
        explain: |_| String::new(),
        reservations: None,
        ledger: arguments.running.ledger.clone(),
        capture: arguments.running.capture(),
        names: false,
        history: None,
        requests,
        has_command: true,
    };
    let mut keeper = Keeper::new(&program, files);
    let sockets = arguments.running.backend.into();
    let ended = daemon.bridge([inside?, outside?], plans.map(Some), sockets, &mut keeper);
    let results = keeper.into_results();
    drop(server);
    let ending = program.finish();
    let status = ended?;
    let Some(code) = ending.code() else { return Err(not_run(arguments, &ending)) };
    results.show(arguments, &status, code)?;
    Ok(Promises::Command(code))
}

/// Lets the command reach what is outside, and says what it reaches.
fn reach_out(place: &Place, is_able: bool) -> Result<Option<Masquerade>, Failure> {
    Relays::begin(place).map_err(Failure::system)?;
    let mut reach = format!("the command reaches this machine at {}", place.gateway());
    let masquerade = match (is_able, masquerade::is_forwarding()) {
        (false, _) => {
            reach += ", and of it TCP services; as root it would reach other machines, too";
            None
        }
        (true, false) => {
            reach += "; `sysctl net.ipv4.ip_forward=1` lets it reach other machines, too";
            None
        }
        (true, true) => match Masquerade::begin(place) {
            Ok(masquerade) => {
                reach += ", and other machines through it";
                Some(masquerade)
            }
            Err(error) => {
                reach += &format!(", and no other machine: {error}");
                None
            }
        },
    };
    terminal::remark(&format!("laxity: {reach}\n"));
    Ok(masquerade)
}

/// The command, which waits for the link.
fn start(arguments: &Emulate, place: &Place, link: Sender<Request>) -> Result<Program, Failure> {
    let (name, rest) = arguments.command.split_first().ok_or_else(|| {
        Failure::input("there is no command: write it behind --, such as -- bash")
    })?;
    let mut command = Command::new(name);
    command.args(rest).env("LAXITY_GATEWAY", place.gateway().to_string());
    Program::new(place.inside.clone(), command, link).map_err(Failure::system)
}

fn not_run(arguments: &Emulate, ending: &Ending) -> Failure {
    let command = arguments.command[0].to_string_lossy();
    match ending {
        Ending::NotStarted(error) => Failure::input(format!("cannot start {command}: {error}")),
        Ending::NotBegun | Ending::Ended(_) => {
            Failure::system(format!("{command} was not started: the link ended before"))
        }
    }
}

fn system(error: laxity_linux::Error) -> Failure {
    LiveError::System(error).into()
}
