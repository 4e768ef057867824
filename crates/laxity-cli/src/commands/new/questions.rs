//! The five questions, one line each, on standard error.

use std::io::BufRead;

use laxity::units::Rate;
use laxity_api::household::{AccessLink, Application, Direction, MOST_DEVICES};

use crate::args::matter;
use crate::failure::Failure;
use crate::terminal::remark;

/// Asks, and reads answers line by line.
pub(super) struct Questions<R>(R);

impl<R: BufRead> Questions<R> {
    pub(super) fn new(answers: R) -> Questions<R> {
        Questions(answers)
    }

    /// The link.
    pub(super) fn link(&mut self) -> Result<AccessLink, Failure> {
        let links: Vec<AccessLink> = AccessLink::common().collect();
        remark("What link is it?\n");
        for (number, link) in links.iter().enumerate() {
            remark(&format!("  {}  {:<14} {}\n", number + 1, link.word, link.name));
        }
        self.answer("Number or word", Some("1"), |text| match text.parse::<usize>() {
            Ok(number) => number
                .checked_sub(1)
                .and_then(|at| links.get(at).copied())
                .ok_or_else(|| format!("a number from 1 to {}", links.len())),
            Err(_) => {
                text.parse().map_err(|error: laxity_api::household::UnknownLink| error.to_string())
            }
        })
    }

    /// The rate of a direction.
    pub(super) fn rate(&mut self, direction: Direction) -> Result<Rate, Failure> {
        let question = match direction {
            Direction::Up => {
                "Rate up, from here, such as 20mbit (a modem shows it, or a speed test)"
            }
            Direction::Down => "Rate down, to here",
        };
        self.answer(question, None, |text| {
            text.parse().map_err(|error: laxity::units::UnitError| error.to_string())
        })
    }

    /// What matters.
    pub(super) fn applications(&mut self) -> Result<Vec<Application>, Failure> {
        remark("What matters?\n");
        for application in Application::ALL {
            remark(&format!("  {:<10} {}\n", application.word, application.examples));
        }
        self.answer("Words with commas between them, or none", Some("calls"), |text| {
            let words = text.split([',', ' ']).filter(|word| !word.is_empty());
            let chosen: Vec<Option<Application>> = words.map(matter).collect::<Result<_, _>>()?;
            Ok(super::chosen(&chosen))
        })
    }

    /// Devices in use at the same time.
    pub(super) fn devices(&mut self, default: u32) -> Result<u32, Failure> {
        self.answer(
            "How many devices are in use at the same time?",
            Some(&default.to_string()),
            |text| {
                let number = text.parse().ok().filter(|number| (1..=MOST_DEVICES).contains(number));
                number.ok_or_else(|| format!("a whole number from 1 to {MOST_DEVICES}"))
            },
        )
    }

    /// Asks until an answer is understood. An empty one is the default, if there is one.
    fn answer<T>(
        &mut self,
        question: &str,
        default: Option<&str>,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, Failure> {
        loop {
            let shown = default.map(|default| format!(" [{default}]")).unwrap_or_default();
            remark(&format!("{question}{shown}: "));
            let mut line = String::new();
            let count = self.0.by_ref().read_line(&mut line);
            if count.map_err(|error| Failure::refused("standard input", &error))? == 0 {
                remark("\n");
                return Err(Failure::input(
                    "the answers ended before the last question: nothing was written",
                ));
            }
            let text = match (line.trim(), default) {
                ("", Some(default)) => default,
                (text, _) => text,
            };
            match read(text) {
                Ok(answer) => return Ok(answer),
                Err(why) => remark(&format!("Not understood: {why}.\n")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(answers: &str) -> Questions<&[u8]> {
        Questions::new(answers.as_bytes())
    }

    #[test]
    fn answers_are_words_numbers_or_nothing() {
        assert_eq!(asked("\n").link().unwrap().word, "docsis");
        assert_eq!(asked("lte\n").link().unwrap().word, "lte");
        assert_eq!(asked("2\n").link().unwrap().word, "pppoe-ptm");
        assert_eq!(asked("20mbit\n").rate(Direction::Up).unwrap(), Rate(20_000_000));
        assert_eq!(asked("\n").applications().unwrap(), [Application::CALLS]);
        let several = asked("games, calls\n").applications().unwrap();
        assert_eq!(several, [Application::CALLS, Application::GAMES]);
        assert!(asked("none\n").applications().unwrap().is_empty());
        assert_eq!(asked("\n").devices(4).unwrap(), 4);
    }

    #[test]
    fn a_question_is_asked_until_it_is_answered() {
        assert_eq!(asked("isdn\n99\n\n").link().unwrap().word, "docsis");
        assert_eq!(asked("\n20\n20mbit\n").rate(Direction::Down).unwrap(), Rate(20_000_000));
        assert_eq!(asked("0\n2000\n7\n").devices(4).unwrap(), 7);
        assert!(asked("fast\n").rate(Direction::Up).is_err());
    }
}
