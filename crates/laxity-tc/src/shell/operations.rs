//! `${NAME%…}`, `${NAME/…}`, `${NAME:…}` and `${NAME^}`: what becomes of a value, or of each of several.

use std::ops::Range;
use std::rc::Rc;

use laxity_plan::error::Fault;

use super::pattern::Pattern;
use super::run::{Shell, not_followed};
use super::syntax::{Operation, Parameter, Text};
use super::value::{Value, Variable};
use crate::error::plain;

impl Shell<'_> {
    /// A value as an operation changes it.
    pub fn changed(
        &mut self,
        value: Value,
        operation: &Operation,
        span: &Range<usize>,
    ) -> Result<Value, Fault> {
        match operation {
            Operation::Strip { from_end, longest, pattern } => {
                self.stripped(value, (*from_end, *longest), pattern, span)
            }
            Operation::Replace { all, anchor, pattern, with } => {
                self.replaced(value, (*all, *anchor), (pattern, with), span)
            }
            Operation::Slice { offset, length } => self.slice(value, offset, length.as_ref(), span),
            Operation::Case { upper, all } => Ok(self.mapped(value, span, |text| {
                let length = text.chars().next().map_or(0, char::len_utf8);
                let (first, rest) = text.split_at(if *all { text.len() } else { length });
                match upper {
                    true => format!("{}{rest}", first.to_uppercase()),
                    false => format!("{}{rest}", first.to_lowercase()),
                }
            })),
            _ => Ok(value),
        }
    }

    /// All values with an operation done to each, or those of a slice; `None` for operations that
    /// are on all together.
    pub fn parts_of(
        &mut self,
        parameter: &Parameter,
        is_array: bool,
        span: &Range<usize>,
    ) -> Result<Option<Result<Vec<Value>, Value>>, Fault> {
        let operation = &parameter.operation;
        let each = matches!(
            operation,
            Operation::Strip { .. } | Operation::Replace { .. } | Operation::Case { .. }
        );
        let is_slice = matches!(operation, Operation::Slice { .. });
        if !each && !is_slice {
            return Ok(None);
        }
        let mut values = match self.several(parameter, is_array) {
            Ok(values) => values,
            Err(unknown) => return Ok(Some(Err(unknown))),
        };
        let Operation::Slice { offset, length } = operation else {
            let changed = values.into_iter().map(|value| self.changed(value, operation, span));
            return Ok(Some(Ok(changed.collect::<Result<Vec<Value>, Fault>>()?)));
        };
        match self.state.variable(&parameter.name) {
            Some(Variable::Many(array)) if is_array => {
                if array.named || array.next() != array.len() {
                    return Err(not_followed(span, "a part of an array with gaps"));
                }
            }
            _ if is_array => {}
            _ => values.insert(0, self.value("0")),
        }
        let number = |shell: &mut Self, text: &Text| {
            let text = shell.text(text, span)?;
            shell.arithmetic(&text, span)
        };
        let offset = number(self, offset)?;
        let length = match length {
            Some(length) => number(self, length)?,
            None => Ok(i64::MAX),
        };
        let (Ok(offset), Ok(length)) = (&offset, &length) else {
            let doubt = offset.err().or(length.err());
            return Ok(Some(Err(Value { text: plain(self.written(span)), doubt })));
        };
        if *length < 0 {
            return Err(Fault::at(span, "a part of an array has no negative length")
                .help("the length is a number from 0 on"));
        }
        let count = values.len() as i64;
        let from = if *offset < 0 { offset.saturating_add(count) } else { *offset };
        if from < 0 {
            return Ok(Some(Ok(Vec::new())));
        }
        // Offsets of arguments count from `$0` on, which a length counts as well.
        let part = values.into_iter().skip(from as usize).take(*length as usize);
        Ok(Some(Ok(part.collect())))
    }

    fn stripped(
        &mut self,
        value: Value,
        (from_end, longest): (bool, bool),
        pattern: &Text,
        span: &Range<usize>,
    ) -> Result<Value, Fault> {
        let pattern = self.pattern(pattern, span)?;
        if value.unknown_because().is_some() || pattern.unknown_because().is_some() {
            let doubt = value.unknown_because().or(pattern.unknown_because()).cloned();
            return Ok(Value { text: plain(self.written(span)), doubt });
        }
        let pattern = Pattern::new(&pattern.text);
        let chars: Vec<char> = value.text.chars().collect();
        let all = chars.len();
        let upward = longest == from_end;
        for step in 0..=all {
            self.work(span, pattern.work(all))?;
            let cut = if upward { step } else { all - step };
            let (part, rest) = match from_end {
                true => (&chars[cut..], &chars[..cut]),
                false => (&chars[..cut], &chars[cut..]),
            };
            if pattern.matches(part) {
                return Ok(Value { text: rest.iter().collect(), doubt: value.doubt });
            }
        }
        Ok(value)
    }

    fn replaced(
        &mut self,
        value: Value,
        (all, anchor): (bool, Option<char>),
        (pattern, with): (&Text, &Text),
        span: &Range<usize>,
    ) -> Result<Value, Fault> {
        let pattern = self.pattern(pattern, span)?;
        let with = self.text(with, span)?;
        let unknown = [&value, &pattern, &with].into_iter().find_map(Value::unknown_because);
        if let Some(doubt) = unknown {
            let doubt = Some(Rc::clone(doubt));
            return Ok(Value { text: plain(self.written(span)), doubt });
        }
        let matcher = Pattern::new(&pattern.text);
        let chars: Vec<char> = value.text.chars().collect();
        let (mut text, mut at, mut over) = (String::new(), 0, pattern.text.is_empty());
        while at < chars.len() {
            let mut length = None;
            if !over && (anchor != Some('#') || at == 0) {
                for end in (at + 1..=chars.len()).rev() {
                    self.work(span, matcher.work(end - at))?;
                    let in_place = anchor != Some('%') || end == chars.len();
                    if in_place && matcher.matches(&chars[at..end]) {
                        length = Some(end - at);
                        break;
                    }
                }
            }
            match length {
                Some(length) => {
                    self.step(span, with.text.len())?;
                    text.push_str(&with.text);
                    at += length;
                    over = !all;
                }
                None => {
                    text.push(chars[at]);
                    at += 1;
                }
            }
        }
        Ok(Value { text, doubt: value.doubt })
    }

    fn slice(
        &mut self,
        value: Value,
        offset: &Text,
        length: Option<&Text>,
        span: &Range<usize>,
    ) -> Result<Value, Fault> {
        let offset = self.text(offset, span)?;
        let offset = self.arithmetic(&offset, span)?;
        let length = match length {
            None => Ok(i64::MAX),
            Some(length) => {
                let length = self.text(length, span)?;
                self.arithmetic(&length, span)?
            }
        };
        let (offset, length) = match (offset, length, value.unknown_because()) {
            (Ok(offset), Ok(length), None) => (offset, length),
            (Err(doubt), ..) | (_, Err(doubt), _) => {
                return Ok(Value { text: plain(self.written(span)), doubt: Some(doubt) });
            }
            _ => return Ok(Value { text: plain(self.written(span)), doubt: value.doubt }),
        };
        let count = value.text.chars().count() as i64;
        let from = if offset < 0 { offset.saturating_add(count) } else { offset };
        let to =
            if length < 0 { count.saturating_add(length) } else { from.saturating_add(length) };
        let (from, to) = (from.clamp(0, count), to.clamp(0, count));
        let text = value.text.chars().skip(from as usize).take((to - from).max(0) as usize);
        Ok(Value { text: text.collect(), doubt: value.doubt })
    }
}
