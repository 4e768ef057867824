//! Commands that run the command behind them, such as `nice` and `timeout`.

use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::shell::run::nested::SHELLS;
use crate::shell::run::simple::spaced;
use crate::shell::run::{Flow, Shell, not_followed};
use crate::shell::syntax::{Node, Redirection, name_length};
use crate::shell::values::{Status, Value, Variable};
use crate::words::command::{Doubt, Word};

/// Such commands, their options with a value in a word of its own, and how many words of their own
/// come after their options.
const WRAPPERS: [(&str, &str, usize); 15] = [
    ("command builtin busybox nohup setsid unshare chronic unbuffer", "", 0),
    ("taskset chroot", "", 1),
    ("sudo", "-u -g -C -D -h -p -R -r -T -t -U", 0),
    ("doas", "-u -C", 0),
    ("exec", "-a", 0),
    ("time", "-f -o", 0),
    ("nice", "-n --adjustment", 0),
    ("env", "-u --unset -C --chdir", 0),
    ("timeout", "-s --signal -k --kill-after", 1),
    ("ionice", "-c --class -n --classdata", 0),
    ("chrt", "-T -P -D", 1),
    ("stdbuf", "-i -o -e", 0),
    ("nsenter", "-t --target", 0),
    ("strace", "-o -e -s -p", 0),
    ("flock", "-w --timeout -E", 1),
];

/// A word as `sudo -s` hands it to a shell, which makes the same word of it.
fn escaped(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-$".contains(c);
    word.chars().flat_map(|c| (!plain(c)).then_some('\\').into_iter().chain([c])).collect()
}

impl Shell<'_> {
    /// Carries out what stands behind a command such as `nice`; `None` if it is none of them.
    pub(crate) fn wrapped(&mut self, fields: &[Word], node: &Node) -> Result<Option<Flow>, Fault> {
        let (name, rest) = (fields[0].program(), &fields[1..]);
        if SHELLS.contains(&name) {
            return self.shell(fields, node).map(Some);
        }
        if name == "su" {
            let is_command = |word: &Word| matches!(&word.text[..], "-c" | "--command");
            return match fields.iter().position(is_command) {
                Some(at) => self.shell(&[&fields[..1], &fields[at..]].concat(), node).map(Some),
                None => self.other(fields, node).map(Some),
            };
        }
        let words = |words: &[&str]| {
            rest.len() > words.len() + 1
                && words.iter().zip(rest).all(|(word, given)| given.text == *word)
        };
        if name == "ip" && (words(&["netns", "exec"]) || words(&["vrf", "exec"])) {
            return self.behind(&rest[3..], node).map(Some);
        }
        let is_named = |(names, ..): &&(&str, _, _)| names.split(' ').any(|known| known == name);
        let Some((_, valued, words)) = WRAPPERS.iter().find(is_named) else { return Ok(None) };
        let (behind, is_shell, unset) = self.behind_options(name, valued, rest, node)?;
        let mut behind = behind.get(*words..).unwrap_or(&[]);
        if name == "flock" && behind.first().is_some_and(|word| word.text == "-c") {
            return self.shell(&[&fields[..1], behind].concat(), node).map(Some);
        }
        if is_shell {
            return self.root_shell(behind, node).map(Some);
        }
        let hidden: Vec<String> =
            unset.into_iter().filter(|variable| self.exported.remove(variable)).collect();
        let mut shadowed = Vec::new();
        while let ("env" | "sudo", [word, after @ ..]) = (name, behind)
            && let Some((variable, value)) = word.text.split_once('=')
            && name_length(variable) == variable.len()
        {
            let value = Value { text: value.into(), doubt: word.doubt.clone() };
            shadowed.push(self.shadow(variable));
            self.state.set_itself(variable, Some(Variable::One(value)));
            behind = after;
        }
        let flow = match name {
            "exec" if behind.is_empty() => {
                self.redirected(node)?;
                Ok(Flow::Next)
            }
            _ if behind.is_empty() => Ok(Flow::Next),
            "command" | "builtin" | "exec" => self.command_itself(behind, node),
            _ => self.behind(behind, node),
        };
        self.restore(shadowed);
        self.exported.extend(hidden);
        let flow = flow?;
        if name == "exec" && !behind.is_empty() {
            // Another program has no traps.
            self.at_exit = None;
            return Ok(Some(Flow::Exit));
        }
        Ok(Some(flow))
    }

    /// The words behind the options of a wrapper, whether it starts a shell, and the variables that
    /// it takes away.
    fn behind_options<'f>(
        &mut self,
        name: &str,
        valued: &str,
        rest: &'f [Word],
        node: &Node,
    ) -> Result<(&'f [Word], bool, Vec<String>), Fault> {
        let (mut behind, mut is_shell, mut unset) = (rest, false, Vec::new());
        while let [option, after @ ..] = behind
            && option.text.starts_with('-')
        {
            behind = after;
            if option.text == "--" {
                break;
            }
            match (name, option.text.as_str()) {
                ("sudo", "-s" | "-i" | "--shell" | "--login") => is_shell = true,
                ("env", "-u" | "--unset") => {
                    unset.extend(behind.first().map(|word| word.text.clone()));
                }
                ("env", word) if word.starts_with("-u") => unset.push(word[2..].to_string()),
                ("env", "-i" | "-" | "--ignore-environment") => {
                    self.step(&node.span, 16 * self.exported.len())?;
                    unset.extend(self.exported.iter().cloned());
                }
                ("env", word) if word.starts_with("-S") || word.starts_with("--split") => {
                    return Err(not_followed(&node.span, "`env -S`"));
                }
                _ => {}
            }
            if valued.split(' ').any(|known| known == option.text) {
                behind = behind.get(1..).unwrap_or(&[]);
            }
        }
        Ok((behind, is_shell, unset))
    }

    /// `sudo -s`: a shell for the words behind it.
    fn root_shell(&mut self, behind: &[Word], node: &Node) -> Result<Flow, Fault> {
        let shell = Word::new("sh", &node.span);
        if behind.is_empty() {
            return self.shell(&[shell], node);
        }
        let escaped: Vec<Word> =
            behind.iter().map(|word| Word { text: escaped(&word.text), ..word.clone() }).collect();
        let all = spaced(&escaped);
        let text = Word { text: all.text, span: node.span.clone(), doubt: all.doubt };
        self.shell(&[shell, Word::new("-c", &node.span), text], node)
    }

    /// `exec > FILE`: what is written there from here on is not known.
    fn redirected(&mut self, node: &Node) -> Result<(), Fault> {
        for redirect in &node.redirects {
            let Redirection::Out { word, .. } = &redirect.kind else { continue };
            let file = self.text(&word.parts, &word.span)?;
            let written = self.written(&node.span);
            if redirect.fd.is_none_or(|fd| fd == 1) {
                self.doubt_output(&Rc::new(Doubt::unknown(written, "")));
            } else {
                self.files.write(&file.text, Value::unknown(written, ""));
            }
        }
        Ok(())
    }

    /// A command that another program starts, which knows no functions of the script.
    pub(crate) fn behind(&mut self, fields: &[Word], node: &Node) -> Result<Flow, Fault> {
        match fields.first() {
            Some(word) if self.state.function(&word.text).is_some() => {
                self.status = Status::Known(127);
                Ok(Flow::Next)
            }
            _ => self.deeper(&node.span, |shell| shell.command(fields, node)),
        }
    }
}
