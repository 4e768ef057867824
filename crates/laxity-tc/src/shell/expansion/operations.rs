//! `${NAME%…}`, `${NAME/…}`, `${NAME:…}` and `${NAME^}`: values that an operation changes.

use std::rc::Rc;

use laxity_plan::error::Fault;

use crate::error::Span;
use crate::shell::expansion::pattern::Pattern;
use crate::shell::run::{Shell, not_followed};
use crate::shell::syntax::{Operation, Parameter, Replacement, Slice, Strip};
use crate::shell::values::{Value, ValueResult, Variable};

impl Shell<'_> {
    /// A value as an operation changes it.
    pub(crate) fn changed(
        &mut self,
        value: Value,
        operation: &Operation,
        span: &Span,
    ) -> Result<Value, Fault> {
        match operation {
            Operation::Strip(strip) => self.stripped(value, strip, span),
            Operation::Replace(replacement) => self.replaced(value, replacement, span),
            Operation::Slice(slice) => self.slice(value, slice, span),
            Operation::Case { upper, all } => Ok(self.mapped(value, span, |text| {
                let length = text.chars().next().map_or(0, char::len_utf8);
                let (first, rest) = text.split_at(if *all { text.len() } else { length });
                if *upper {
                    format!("{}{rest}", first.to_uppercase())
                } else {
                    format!("{}{rest}", first.to_lowercase())
                }
            })),
            Operation::Value
            | Operation::Length
            | Operation::Indirect
            | Operation::Keys
            | Operation::Default(_) => Ok(value),
        }
    }

    /// What an operation on all arguments, or on all elements of an array, comes to: a value for
    /// each, or why they are not known. It is `None` for operations that take all as one text.
    pub(crate) fn each(
        &mut self,
        parameter: &Parameter,
        is_array: bool,
        span: &Span,
    ) -> Result<Option<Result<Vec<Value>, Value>>, Fault> {
        let keys = || match self.state.variable(&parameter.name) {
            Some(Variable::Many(values)) => values.keys().map(Value::new).collect(),
            Some(Variable::One(_)) => vec![Value::new("0")],
            Some(Variable::Refers(_)) | None => Vec::new(),
        };
        match &parameter.operation {
            Operation::Indirect | Operation::Default(_) => return Ok(None),
            Operation::Keys => return Ok(Some(Ok(keys()))),
            _ => {}
        }
        let mut values = match self.several(&parameter.name, is_array) {
            Ok(values) => values,
            Err(unknown) => return Ok(Some(Err(unknown))),
        };
        Ok(Some(match &parameter.operation {
            Operation::Length => Ok(vec![Value::new(values.len().to_string())]),
            Operation::Slice(slice) => {
                match self.state.variable(&parameter.name) {
                    Some(Variable::Many(array)) if is_array && array.has_gaps() => {
                        return Err(not_followed(span, "a part of an array with gaps"));
                    }
                    _ if is_array => {}
                    _ => values.insert(0, self.value("0")),
                }
                self.part(values, slice, span)?
            }
            operation => {
                let changed = values.into_iter().map(|value| self.changed(value, operation, span));
                Ok(changed.collect::<Result<Vec<Value>, Fault>>()?)
            }
        }))
    }

    /// A part of values: those of an array without gaps, or `$0` and the arguments.
    fn part(
        &mut self,
        values: Vec<Value>,
        slice: &Slice,
        span: &Span,
    ) -> Result<Result<Vec<Value>, Value>, Fault> {
        let (offset, length) = match self.bounds(slice, span)? {
            Ok(bounds) => bounds,
            Err(doubt) => return Ok(Err(self.undetermined(span, doubt))),
        };
        if length < 0 {
            return Err(Fault::at(span, "a part of an array has no negative length")
                .help("the length is a number from 0 on"));
        }
        let count = values.len() as i64;
        let from = if offset < 0 { offset.saturating_add(count) } else { offset };
        if from < 0 {
            return Ok(Ok(Vec::new()));
        }
        // Offsets of arguments count from `$0` on, which a length counts as well.
        let part = values.into_iter().skip(from as usize).take(length as usize);
        Ok(Ok(part.collect()))
    }

    /// Offset and length of a slice; without a length, the longest.
    fn bounds(&mut self, slice: &Slice, span: &Span) -> Result<ValueResult<(i64, i64)>, Fault> {
        let offset = self.number(&slice.offset, span)?;
        let length = slice.length.as_ref();
        let length = length.map_or(Ok(Ok(i64::MAX)), |length| self.number(length, span))?;
        Ok(offset.and_then(|offset| Ok((offset, length?))))
    }

    fn stripped(&mut self, value: Value, strip: &Strip, span: &Span) -> Result<Value, Fault> {
        let Strip { from_end, longest, ref pattern } = *strip;
        let pattern = self.pattern(pattern, span)?;
        if let Some(doubt) = value.unknown_because().or(pattern.unknown_because()) {
            return Ok(self.undetermined(span, Rc::clone(doubt)));
        }
        let pattern = Pattern::new(&pattern.text);
        let chars: Vec<char> = value.text.chars().collect();
        let all = chars.len();
        let upward = longest == from_end;
        for step in 0..=all {
            self.work(span, pattern.work(all))?;
            let cut = if upward { step } else { all - step };
            let (part, rest) = if from_end {
                (&chars[cut..], &chars[..cut])
            } else {
                (&chars[..cut], &chars[cut..])
            };
            if pattern.matches(part) {
                return Ok(Value { text: rest.iter().collect(), doubt: value.doubt });
            }
        }
        Ok(value)
    }

    fn replaced(&mut self, value: Value, by: &Replacement, span: &Span) -> Result<Value, Fault> {
        let Replacement { all, anchor, ref pattern, ref with } = *by;
        let pattern = self.pattern(pattern, span)?;
        let with = self.text(with, span)?;
        let unknown = [&value, &pattern, &with].into_iter().find_map(Value::unknown_because);
        if let Some(doubt) = unknown {
            return Ok(self.undetermined(span, Rc::clone(doubt)));
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

    fn slice(&mut self, value: Value, slice: &Slice, span: &Span) -> Result<Value, Fault> {
        let (offset, length) = match self.bounds(slice, span)? {
            Err(doubt) => return Ok(self.undetermined(span, doubt)),
            Ok(bounds) => match value.unknown_because() {
                Some(doubt) => return Ok(self.undetermined(span, Rc::clone(doubt))),
                None => bounds,
            },
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
