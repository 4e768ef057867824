//! `laxity top`: classes on a link, once a second.

mod bar;
mod columns;
mod keys;
mod poller;
mod promised;
mod state;
mod talkers;
mod view;

#[cfg(test)]
mod tests;

use std::io;
use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};

use super::control_socket;
use crate::Promises;
use crate::args::Instance;
use crate::failure::Failure;
use keys::Wish;
use poller::Poller;
use state::State;

/// So often it looks for keys and answers.
const LOOK: Duration = Duration::from_millis(100);

/// Carries the command out.
pub(super) fn run(instance: &Instance) -> Result<Promises, Failure> {
    let client = control_socket::running(instance.control.as_deref())?;
    // Before the screen is taken.
    let first = client.status().map_err(Failure::system)?;
    let refused = |error| Failure::refused("the terminal", &error);
    let mut terminal = ratatui::try_init().map_err(|error| {
        Failure::system(format!("{error}: laxity top takes a terminal; see laxity status"))
    })?;
    let shown = show(&mut terminal, State::new(first), &Poller::begin(client));
    ratatui::restore();
    shown.map_err(refused)?;
    Ok(Promises::Kept)
}

fn show(terminal: &mut DefaultTerminal, mut state: State, poller: &Poller) -> io::Result<()> {
    loop {
        poller.heard().for_each(|heard| state.hear(heard));
        terminal.draw(|frame| view::draw(&mut state, frame))?;
        if !event::poll(LOOK)? {
            continue;
        }
        let Event::Key(key) = event::read()? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        match keys::press(&mut state, key) {
            Some(Wish::End) => return Ok(()),
            Some(Wish::Reload) => poller.reload(),
            None => {}
        }
    }
}
