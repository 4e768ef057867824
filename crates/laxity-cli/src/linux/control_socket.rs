//! Where what runs can be seen and controlled, and how it is found.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc::Sender;

use laxity_live::client::Client;
use laxity_live::process::Request;
use laxity_live::reservations::Clients;
use laxity_live::server::{ControlSocket, Listeners, Server, ServerError};
use laxity_report::html::colours;

use crate::args::Monitoring;
use crate::failure::Failure;
use crate::terminal;

/// Starts the server of status, metrics and control. It hands requests over through `requests`.
/// Clients order at the address of `orders`.
/// Without `--control` a socket that cannot be made is a remark and no error.
pub(crate) fn serve(
    monitoring: &Monitoring,
    control: &Path,
    orders: Option<(SocketAddr, Clients)>,
    requests: Sender<Request>,
) -> Result<Server, Failure> {
    let control = match &monitoring.control {
        Some(path) => Some(ControlSocket::bind(path).map_err(Failure::system)?),
        None => match ControlSocket::bind(control) {
            Err(error @ ServerError::Listen { .. }) => {
                say(&format!("{error}, so nothing controls this but signals; see --control"));
                None
            }
            bound => Some(bound.map_err(Failure::system)?),
        },
    };
    let network = monitoring.listen.map(Listeners::listen).transpose().map_err(Failure::system)?;
    let orders = orders.map(|(address, clients)| Ok((Listeners::listen(address)?, clients)));
    let orders = orders.transpose().map_err(|error: ServerError| Failure::system(error))?;
    let listeners = Listeners { control, network, orders };
    listeners.said().iter().for_each(|sentence| say(sentence));
    Server::start(listeners, colours(), requests, say).map_err(Failure::system)
}

fn say(what: &str) {
    terminal::remark(&format!("laxity: {what}\n"));
}

/// What is controlled by this socket, or else the only one that runs.
pub(crate) fn running(control: Option<&Path>) -> Result<Client, Failure> {
    if let Some(path) = control {
        return Ok(Client::at(path));
    }
    let mut running = Client::running();
    match running.len() {
        0 => Err(Failure::system(
            "nothing is found to run that could be asked: start `laxity live` or `laxity watch`, or say with \
             --control PATH where its socket is",
        )),
        1 => Ok(running.remove(0)),
        _ => {
            let listed = running.iter().map(|client| format!("\n  {}", client.socket().display()));
            let listed: String = listed.collect();
            Err(Failure::input(format!("several run: say with --control PATH which one{listed}")))
        }
    }
}
