//! `laxity rsvp`: reservations by RSVP at a router.

use laxity_linux::interface::Interface;
use laxity_live::rsvp::{Agent, AgentError, AgentOptions};

use super::control_socket;
use crate::args::Rsvp;
use crate::failure::Failure;
use crate::{Promises, input, terminal};

/// Carries the command out.
pub(super) fn run(arguments: &Rsvp) -> Result<Promises, Failure> {
    let plan = input::plan(&arguments.plan, None)?;
    let interface = Interface::named(&arguments.interface).map_err(Failure::input)?;
    let client = control_socket::running(arguments.instance.control.as_deref())?;
    let Rsvp { refresh, lateness, .. } = *arguments;
    let options = AgentOptions { interface, client, refresh, lateness };
    let mut say = |what: &str| terminal::remark(&format!("laxity: {what}\n"));
    let agent = Agent::start(&plan, options)?;
    say(&format!("RSVP reserves at {}", arguments.interface));
    agent.run(&mut say)?;
    Ok(Promises::Kept)
}

impl From<AgentError> for Failure {
    fn from(error: AgentError) -> Self {
        match error {
            AgentError::NoReservations(_) | AgentError::Network | AgentError::Unsure => {
                Failure::input(error)
            }
            error => Failure::system(error),
        }
    }
}
