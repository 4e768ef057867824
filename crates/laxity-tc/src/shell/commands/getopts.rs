//! `getopts` (POSIX.1-2017, Shell and Utilities).

use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::shell::run::Shell;
use crate::shell::syntax::Node;
use crate::shell::values::{Status, Value, Variable};
use crate::words::command::Word;

impl Shell<'_> {
    /// Takes the next option of the arguments. Arguments that are not given have no options: the
    /// script's own values hold.
    pub(crate) fn getopts(&mut self, rest: &[Word], node: &Node) -> Result<(), Fault> {
        let [known, name, rest @ ..] = rest else {
            self.status = Status::Known(2);
            return Ok(());
        };
        let words: Rc<Vec<Value>> = match (rest, &self.state.arguments().known) {
            ([], Some(known)) => Rc::clone(known),
            ([], None) => {
                self.asks.set(true);
                Rc::default()
            }
            (words, _) => Rc::new(words.iter().map(Value::from).collect()),
        };
        let number = |value: Value| value.text.parse::<usize>().ok();
        let index = number(self.value("OPTIND")).unwrap_or(1).max(1);
        let within = number(self.value("OPTPOS")).unwrap_or(1).max(1);
        let word = words.get(index - 1).map_or("", |word| word.text.as_str());
        let set = |shell: &mut Self, name: &str, text: String| {
            shell.assign(name, Variable::One(Value::new(text)), &node.span)
        };
        let ends = !word.starts_with('-') || word == "-" || word == "--";
        if ends {
            let after = index + usize::from(word == "--");
            set(self, "OPTIND", after.to_string())?;
            set(self, &name.text, "?".into())?;
            self.status = Status::FAILURE;
            return Ok(());
        }
        let option = word.chars().nth(within).unwrap_or('?');
        let more = word.chars().count() > within + 1;
        let place = known.text.find(option).filter(|_| option != ':');
        let takes = place.is_some_and(|at| known.text[at + option.len_utf8()..].starts_with(':'));
        let (mut next, mut position) =
            (index + usize::from(!more), if more { within + 1 } else { 1 });
        if takes {
            let argument = if more {
                Some(word.chars().skip(within + 1).collect())
            } else {
                words.get(index).map(|word| word.text.clone())
            };
            (next, position) = (index + 1 + usize::from(!more), 1);
            match argument {
                Some(argument) => set(self, "OPTARG", argument)?,
                None => {
                    set(self, &name.text, "?".into())?;
                    return set(self, "OPTIND", next.to_string());
                }
            }
        } else {
            self.state.set_variable("OPTARG", None);
        }
        let found = place.map_or('?', |_| option);
        set(self, &name.text, found.to_string())?;
        set(self, "OPTIND", next.to_string())?;
        set(self, "OPTPOS", position.to_string())
    }
}
