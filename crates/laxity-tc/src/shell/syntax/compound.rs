//! Commands that begin with a word of their own: `if`, `for`, `case`, `{` and so on (POSIX.1-2017,
//! Shell Command Language, section 2.9.4).

use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::shell::syntax::parser::{DEEPEST, Parser};
use crate::shell::syntax::words::arithmetic_length;
use crate::shell::syntax::{Branch, CaseEnd, Kind, List, TestWord};

impl Parser<'_> {
    /// A command that begins with a word of its own.
    pub(crate) fn compound(&mut self) -> Result<Option<Kind>, Fault> {
        let start = self.at;
        let keyword = self.keyword();
        if self.rest().starts_with("((") && arithmetic_length(&self.rest()[2..]).is_some() {
            self.at += 2;
            return Ok(Some(Kind::Arithmetic(self.text_until(Some("))"))?)));
        }
        if self.eat("(") {
            let list = self.list()?;
            self.expect(")", "(", start)?;
            return Ok(Some(Kind::Subshell(list)));
        }
        let known = ["{", "if", "for", "select", "while", "until", "case", "function", "[["];
        if !known.contains(&keyword) {
            return Ok(None);
        }
        self.at += keyword.len();
        Ok(Some(match keyword {
            "{" => {
                let list = self.list()?;
                self.expect("}", "{", start)?;
                Kind::Group(list)
            }
            "if" => self.conditions(start)?,
            "while" | "until" => {
                let condition = self.list()?;
                let body = self.body(keyword, start)?;
                Kind::While(keyword == "until", condition, body)
            }
            "case" => self.case(start)?,
            "[[" => Kind::Test(self.test_words(start)?),
            "function" => {
                self.blanks();
                let name = self.keyword().to_string();
                self.at += name.len();
                self.blanks();
                if self.eat("(") {
                    self.blanks();
                    self.eat(")");
                }
                self.function(name)?
            }
            "select" => {
                self.counting(start)?;
                Kind::NotFollowed("`select`")
            }
            _ => self.counting(start)?,
        }))
    }

    fn conditions(&mut self, start: usize) -> Result<Kind, Fault> {
        let mut ways = Vec::new();
        loop {
            let condition = self.list()?;
            self.expect("then", "if", start)?;
            ways.push((condition, self.list()?));
            if self.keyword() != "elif" {
                break;
            }
            self.at += "elif".len();
        }
        let mut otherwise = Vec::new();
        if self.keyword() == "else" {
            self.at += "else".len();
            otherwise = self.list()?;
        }
        self.expect("fi", "if", start)?;
        Ok(Kind::If(ways, otherwise))
    }

    fn body(&mut self, opening: &str, start: usize) -> Result<List, Fault> {
        self.expect("do", opening, start)?;
        let body = self.list()?;
        self.expect("done", opening, start)?;
        Ok(body)
    }

    fn counting(&mut self, start: usize) -> Result<Kind, Fault> {
        self.blanks();
        if self.eat("((") {
            let parts = [self.text_until(Some(";"))?, self.text_until(Some(";"))?];
            let [first, condition] = parts;
            let next = self.text_until(Some("))"))?;
            self.blanks();
            self.eat(";");
            let body = self.body("for", start)?;
            return Ok(Kind::Counted(Box::new([first, condition, next]), body));
        }
        let name = self.keyword();
        if name.is_empty() || crate::shell::syntax::name_length(name) != name.len() {
            return Err(self.unexpected().help("`for` goes on with the name of a variable"));
        }
        self.at += name.len();
        self.newlines()?;
        let mut words = None;
        if self.keyword() == "in" {
            self.at += 2;
            words = Some(self.words(false)?);
        }
        self.blanks();
        self.eat(";");
        let body = self.body("for", start)?;
        Ok(Kind::For(name.to_string(), words, body))
    }

    fn case(&mut self, start: usize) -> Result<Kind, Fault> {
        self.blanks();
        let word = self.word()?;
        self.expect("in", "case", start)?;
        let mut ways = Vec::new();
        loop {
            self.newlines()?;
            if self.keyword() == "esac" {
                break;
            }
            self.eat("(");
            let mut patterns = Vec::new();
            loop {
                self.blanks();
                if self.at == self.end {
                    break;
                }
                patterns.push(self.word()?);
                self.blanks();
                if !self.eat("|") {
                    break;
                }
            }
            self.expect(")", "case", start)?;
            let body = self.list()?;
            self.newlines()?;
            let signs =
                [(";;&", CaseEnd::NextMatch), (";;", CaseEnd::Ends), (";&", CaseEnd::NextBody)];
            let end = signs.into_iter().find(|(sign, _)| self.eat(sign));
            let then = end.map_or(CaseEnd::Ends, |(_, then)| then);
            ways.push(Branch { patterns, body, then });
            if end.is_none() {
                self.newlines()?;
                break;
            }
        }
        self.expect("esac", "case", start)?;
        Ok(Kind::Case(word, ways))
    }

    pub(crate) fn function(&mut self, name: String) -> Result<Kind, Fault> {
        self.newlines()?;
        let body = self.command()?;
        Ok(Kind::Function(name, Rc::new(body)))
    }

    fn test_words(&mut self, start: usize) -> Result<Vec<TestWord>, Fault> {
        let mut words = Vec::new();
        let mut inside = 0;
        loop {
            self.newlines()?;
            if self.keyword() == "]]" {
                self.at += 2;
                return Ok(words);
            }
            let regex =
                matches!(words.last(), Some(TestWord::Word(word)) if word.plain() == Some("=~"));
            let signs = ["&&", "||", "(", ")", "<", ">"];
            let sign = signs.into_iter().find(|sign| !regex && self.eat(sign));
            if let Some(sign) = sign {
                inside += usize::from(sign == "(");
                words.push(TestWord::Sign(sign));
                if inside > DEEPEST {
                    return Err(self.unexpected());
                }
                continue;
            }
            match self.peek() {
                None => {
                    let span = self.place(start..start + 2);
                    return Err(Fault::at(&span, "this `[[` has no `]]`")
                        .help("a test ends with the sign that it begins with"));
                }
                Some(';' | '&' | '|') => return Err(self.unexpected()),
                Some('(' | ')') if regex => words.push(TestWord::Word(self.word_with("()|&;")?)),
                Some(_) => {
                    words.push(TestWord::Word(self.word_with(if regex { "()|" } else { "" })?))
                }
            }
        }
    }
}
