//! What keys do.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::columns::COLUMNS;
use super::state::State;
use super::talkers;

/// What a key asks for beyond what is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// To end.
    End,
    /// To have the plans read again.
    Reload,
}

/// Does what a key is for.
pub(super) fn press(state: &mut State, key: KeyEvent) -> Option<Wish> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return (key.code == KeyCode::Char('c')).then_some(Wish::End);
    }
    if std::mem::take(&mut state.asks) {
        let agreed = key.code == KeyCode::Char('y');
        state.message = agreed.then(|| "The plan is being read again.".into());
        return agreed.then_some(Wish::Reload);
    }
    match key.code {
        KeyCode::Char('q') | KeyCode::Esc => return Some(Wish::End),
        KeyCode::Char('r') => state.asks = !state.gone,
        KeyCode::Char(' ') => state.of_all = !state.of_all,
        KeyCode::Char('f') => state.talkers = (state.talkers + 1) % talkers::COUNTS.len(),
        KeyCode::Left => state.order = step(state.order, COLUMNS.len()),
        KeyCode::Right => state.order = step(state.order, 1),
        KeyCode::Up => state.scrolled = state.scrolled.saturating_sub(1),
        KeyCode::Down => state.scrolled += 1,
        _ => {}
    }
    None
}

/// The place of the column `by` places to the right of `from`.
///
/// It wraps around. `None`, no column, has a place between the last column and the first.
fn step(from: Option<usize>, by: usize) -> Option<usize> {
    let next = (from.map_or(0, |place| place + 1) + by) % (COLUMNS.len() + 1);
    next.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_go_round() {
        let there: Vec<_> =
            std::iter::successors(Some(None), |from| Some(step(*from, 1))).take(10).collect();
        assert_eq!((there[0], there[1], there[9]), (None, Some(0), None));
        for (from, to) in there.iter().zip(&there[1..]) {
            assert_eq!(step(*to, COLUMNS.len()), *from);
        }
    }
}
