//! What stands in `$((…))`: whole numbers of 64 bits, as in C (POSIX.1-2017, Shell Command
//! Language, section 2.6.4).

use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::error::{Span, plain};
use crate::shell::run::Shell;
use crate::shell::syntax::{Text, name_length};
use crate::shell::values::{Value, ValueResult, Variable};
use crate::words::command::{RUN, doubted};
use crate::words::quantity;

/// How deep brackets and signs may stand inside each other.
const DEEPEST: usize = 64;
/// Operators from the weakest to the strongest.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

struct Expression<'a, 's> {
    shell: &'a mut Shell<'s>,
    text: &'a str,
    at: usize,
    span: &'a Span,
    depth: usize,
    /// What is read does not count: the way of `?:`, `&&` or `||` that is not taken.
    skipped: bool,
}

impl Shell<'_> {
    /// The value of an expression as it is written.
    pub(crate) fn number(&mut self, text: &Text, span: &Span) -> Result<ValueResult<i64>, Fault> {
        let value = self.text(text, span)?;
        self.arithmetic(&value, span)
    }

    /// The value of an expanded expression.
    pub(crate) fn arithmetic(
        &mut self,
        value: &Value,
        span: &Span,
    ) -> Result<ValueResult<i64>, Fault> {
        if let Some(doubt) = value.unknown_because() {
            return Ok(Err(Rc::clone(doubt)));
        }
        self.step(span, value.text.len())?;
        let text = &value.text;
        let mut expression =
            Expression { shell: self, text, at: 0, span, depth: 0, skipped: false };
        let number = match expression.blank() {
            "" => Ok(0),
            _ => expression.comma()?,
        };
        match expression.blank() {
            "" => Ok(number),
            _ => Err(doubted(expression.fault(), value.doubt.as_deref())),
        }
    }
}

impl Expression<'_, '_> {
    fn fault(&self) -> Fault {
        let rest = self.text[self.at..].trim_start();
        let rest = if rest.is_empty() { "its end" } else { rest };
        let message = format!("`{}` is no arithmetic at {}", plain(self.text), plain(rest));
        Fault::at(self.span, message).help(format!(
            "read are whole numbers, variables, brackets and the operators of C; {RUN}"
        ))
    }

    fn blank(&mut self) -> &str {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        &self.text[self.at..]
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = self.blank().starts_with(sign);
        self.at += if found { sign.len() } else { 0 };
        found
    }

    fn comma(&mut self) -> Result<ValueResult<i64>, Fault> {
        let mut number = self.choice()?;
        while self.eat(",") {
            number = self.choice()?;
        }
        Ok(number)
    }

    /// `a ? b : c`, and assignments.
    fn choice(&mut self) -> Result<ValueResult<i64>, Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.fault());
        }
        let number = match self.assignment()? {
            Some(number) => number,
            None => {
                let condition = self.level(0)?;
                if self.eat("?") {
                    let skipped = self.skipped;
                    let holds = condition.clone().map(|condition| condition != 0);
                    self.skipped |= !matches!(holds, Ok(true));
                    let first = self.comma()?;
                    if !self.eat(":") {
                        return Err(self.fault());
                    }
                    self.skipped = skipped || !matches!(holds, Ok(false));
                    let second = self.choice()?;
                    self.skipped = skipped;
                    holds.and_then(|holds| if holds { first } else { second })
                } else {
                    condition
                }
            }
        };
        self.depth -= 1;
        Ok(number)
    }

    /// `NAME = value`, `NAME += value` and the like; `None` if it is none.
    fn assignment(&mut self) -> Result<Option<ValueResult<i64>>, Fault> {
        let start = self.at;
        let name = self.name();
        let after = self.blank();
        let operators = ["=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="];
        let found = operators.into_iter().find(|operator| after.starts_with(operator));
        let found = found.filter(|_| !name.is_empty() && !after.starts_with("=="));
        let Some(operator) = found else {
            self.at = start;
            return Ok(None);
        };
        self.at += operator.len();
        let value = self.choice()?;
        let number = match operator.trim_end_matches('=') {
            "" => value,
            sign => {
                let before = self.variable(&name)?;
                self.apply(sign, before, value)?
            }
        };
        self.store(&name, &number)?;
        Ok(Some(number))
    }

    fn store(&mut self, name: &str, number: &ValueResult<i64>) -> Result<(), Fault> {
        if self.skipped {
            return Ok(());
        }
        let value = match number {
            Ok(number) => Value::new(number.to_string()),
            Err(doubt) => Value { text: format!("${name}"), doubt: Some(Rc::clone(doubt)) },
        };
        self.shell.assign(name, Variable::One(value), self.span)
    }

    fn level(&mut self, level: usize) -> Result<ValueResult<i64>, Fault> {
        let Some(operators) = LEVELS.get(level) else { return self.signed() };
        let mut number = self.level(level + 1)?;
        loop {
            let rest = self.blank();
            let found = operators.iter().find(|operator| rest.starts_with(**operator));
            // `a & b` is not the beginning of `a && b`, nor `a | b` that of `a || b`.
            let longer = ["&&", "||", "<<", ">>", "<=", ">="];
            let Some(operator) = found.filter(|operator| {
                let other =
                    longer.iter().any(|long| long.len() > operator.len() && rest.starts_with(long));
                let assigns = operator.len() < 3
                    && rest[operator.len()..].starts_with('=')
                    && !matches!(**operator, "<" | ">" | "==" | "!=" | "<=" | ">=");
                !other && !assigns
            }) else {
                return Ok(number);
            };
            self.at += operator.len();
            let skipped = self.skipped;
            match (*operator, &number) {
                ("&&", Ok(0)) => self.skipped = true,
                ("||", Ok(left)) if *left != 0 => self.skipped = true,
                _ => {}
            }
            let right = self.level(level + 1)?;
            self.skipped = skipped;
            number = self.apply(operator, number, right)?;
        }
    }

    fn apply(
        &self,
        operator: &str,
        left: ValueResult<i64>,
        right: ValueResult<i64>,
    ) -> Result<ValueResult<i64>, Fault> {
        match (operator, &left, &right) {
            ("&&", Ok(0), _) => return Ok(Ok(0)),
            ("||", Ok(left), _) if *left != 0 => return Ok(Ok(1)),
            _ => {}
        }
        let (left, right) = match (left, right) {
            (Ok(left), Ok(right)) => (left, right),
            (Err(doubt), _) | (_, Err(doubt)) => return Ok(Err(doubt)),
        };
        if matches!(operator, "/" | "%") && right == 0 {
            if self.skipped {
                return Ok(Ok(0));
            }
            let message = format!("`{}` divides by zero", plain(self.text));
            return Err(Fault::at(self.span, message).help("give its variables a value"));
        }
        let shift = right as u32;
        Ok(Ok(match operator {
            "*" => left.wrapping_mul(right),
            "/" => left.wrapping_div(right),
            "%" => left.wrapping_rem(right),
            "+" => left.wrapping_add(right),
            "-" => left.wrapping_sub(right),
            "<<" => left.wrapping_shl(shift),
            ">>" => left.wrapping_shr(shift),
            "<" => i64::from(left < right),
            ">" => i64::from(left > right),
            "<=" => i64::from(left <= right),
            ">=" => i64::from(left >= right),
            "==" => i64::from(left == right),
            "!=" => i64::from(left != right),
            "&" => left & right,
            "^" => left ^ right,
            "|" => left | right,
            "&&" => i64::from(left != 0 && right != 0),
            _ => i64::from(left != 0 || right != 0),
        }))
    }

    fn signed(&mut self) -> Result<ValueResult<i64>, Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.fault());
        }
        let rest = self.blank();
        let number = if rest.starts_with("++") || rest.starts_with("--") {
            let step = if rest.starts_with('+') { 1 } else { -1 };
            self.at += 2;
            let name = self.name();
            if name.is_empty() { self.signed()? } else { self.stepped(&name, step)? }
        } else if self.eat("-") {
            self.signed()?.map(i64::wrapping_neg)
        } else if self.eat("+") {
            self.signed()?
        } else if self.eat("!") {
            self.signed()?.map(|number| i64::from(number == 0))
        } else if self.eat("~") {
            self.signed()?.map(|number| !number)
        } else {
            self.single()?
        };
        self.depth -= 1;
        Ok(number)
    }

    fn stepped(&mut self, name: &str, step: i64) -> Result<ValueResult<i64>, Fault> {
        let number = self.variable(name)?.map(|number| number.wrapping_add(step));
        self.store(name, &number)?;
        Ok(number)
    }

    fn name(&mut self) -> String {
        let rest = self.blank();
        let length =
            if rest.starts_with(|c: char| c.is_ascii_digit()) { 0 } else { name_length(rest) };
        let name = rest[..length].to_string();
        self.at += length;
        name
    }

    /// A number, a variable or what stands in brackets; behind a variable may be `++`.
    fn single(&mut self) -> Result<ValueResult<i64>, Fault> {
        if self.eat("(") {
            let number = self.comma()?;
            return if self.eat(")") { Ok(number) } else { Err(self.fault()) };
        }
        let name = self.name();
        if !name.is_empty() {
            let number = self.variable(&name)?;
            for (sign, step) in [("++", 1), ("--", -1)] {
                if self.eat(sign) {
                    let _ = self.stepped(&name, step)?;
                }
            }
            return Ok(number);
        }
        let rest = self.blank();
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '#');
        let length = length.unwrap_or(rest.len());
        let read = number(&rest[..length]).filter(|_| length > 0);
        let Some(number) = read else { return Err(self.fault()) };
        self.at += length;
        Ok(Ok(number))
    }

    /// A variable as a number: none counts as zero.
    fn variable(&mut self, name: &str) -> Result<ValueResult<i64>, Fault> {
        let value = self.shell.value(name);
        if let Some(doubt) = value.unknown_because() {
            return Ok(Err(Rc::clone(doubt)));
        }
        let text = value.text.trim();
        match text {
            "" => Ok(Ok(0)),
            _ if self.skipped => Ok(Ok(0)),
            _ => signed_number(text).map(Ok).ok_or_else(|| {
                let message = format!("`{}`, the value of ${name}, is no number", plain(text));
                Fault::at(self.span, message)
                    .help(format!("arithmetic is done with whole numbers; {RUN}"))
            }),
        }
    }
}

/// A number with its sign.
pub(crate) fn signed_number(text: &str) -> Option<i64> {
    match text.strip_prefix('-') {
        Some(digits) => number(digits).map(i64::wrapping_neg),
        None => number(text.strip_prefix('+').unwrap_or(text)),
    }
}

/// Decimal, `0x` and hexadecimal, `0` and octal, or `BASE#DIGITS`.
fn number(text: &str) -> Option<i64> {
    let value = match text.split_once('#') {
        Some((base, digits)) => {
            let base = base.parse().ok().filter(|base| (2..=36).contains(base))?;
            let is_plain = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
            u64::from_str_radix(digits, base).ok().filter(|_| is_plain)
        }
        None => quantity::number(text, 0),
    };
    value.and_then(|value| i64::try_from(value).ok())
}
