//! A plan's file that is read again when it has changed.
//!
//! Who changes a plan of ten thousand classes changes one or two of them. Where the tables of the
//! classes follow each other, each under its own `[class.NAME]`, only those are read again between
//! which the text is another one. They are read as a plan of their own, together with everything
//! before the first class and with all classes that have others below them. Whatever is not as
//! simple as that is read whole: the plan, or what is wrong with it, is always that of the text.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use laxity::packet::ClassId;

use crate::error::PlanError;
use crate::file;
use crate::model::{Class, Plan};
use crate::raw::MOST;

/// A plan's file, and what it said when it was last read.
#[derive(Clone, Debug)]
pub struct PlanReader {
    path: PathBuf,
    last: Option<Reading>,
}

/// What a file said.
#[derive(Clone, Debug)]
struct Reading {
    text: String,
    plan: Plan,
}

impl PlanReader {
    /// A file that has not been read yet.
    pub fn new(path: PathBuf) -> Self {
        PlanReader { path, last: None }
    }

    /// A file that said this plan in this text.
    pub fn after(path: PathBuf, text: String, plan: Plan) -> Self {
        PlanReader { path, last: Some(Reading { text, plan }) }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the file: its plan and its text.
    ///
    /// # Errors
    /// As [`Plan::read`]. What the file said before counts on.
    pub fn read(&mut self) -> Result<(Plan, String), PlanError> {
        let name = self.path.display().to_string();
        let text = file::text(&self.path, &name)?;
        let plan = match self.last.as_ref().and_then(|last| last.changed_to(&text)) {
            Some(plan) => plan,
            None => Plan::parse(&text, &name, self.path.parent().unwrap_or(Path::new("")))?,
        };
        self.last = Some(Reading { text: text.clone(), plan: plan.clone() });
        Ok((plan, text))
    }
}

impl Reading {
    /// The plan of another text, where its classes are read one by one and others than these are
    /// the same; `None` where it has to be read whole.
    fn changed_to(&self, text: &str) -> Option<Plan> {
        let Plan { classes, sources, requests, network, files, .. } = &self.plan;
        if !sources.is_empty() || !requests.is_empty() || network.is_some() || !files.is_empty() {
            return None;
        }
        let change = Change::new(&self.text, classes, text)?;
        let above: Vec<usize> =
            change.others(classes.len()).filter(|class| !classes[*class].is_leaf()).collect();
        let part = change.part(&self.text, &above, text);
        let part_plan = Plan::parse(&part, "", Path::new("")).ok()?;
        table_starts(&part, &part_plan.classes)?;
        let classes = change.classes(classes, &part_plan.classes, above.len())?;
        let plan = Plan {
            title: self.plan.title.clone(),
            link: self.plan.link.clone(),
            files: Vec::new(),
            network: None,
            scheduler: self.plan.scheduler,
            queue: self.plan.queue,
            classes,
            sources: Vec::new(),
            requests: Vec::new(),
            run: self.plan.run,
        };
        (plan.scheduler.room().check)(&plan, &(0..0)).ok()?;
        Some(plan)
    }
}

/// Where a text has changed.
struct Change {
    /// Where the tables of classes begin in the text before.
    starts: Vec<usize>,
    /// The classes whose tables may have changed.
    from: usize,
    until: usize,
    /// How many bytes of the end are those of other classes.
    tail: usize,
}

impl Change {
    /// Between two texts. The first one has these classes.
    fn new(before: &str, classes: &[Class], after: &str) -> Option<Self> {
        let starts = table_starts(before, classes)?;
        let same = |(one, other): &(u8, u8)| one == other;
        let prefix = before.bytes().zip(after.bytes()).take_while(same).count();
        let rest = [&before.as_bytes()[prefix..], &after.as_bytes()[prefix..]];
        let [one, other] = rest.map(|rest| rest.iter().rev().copied());
        let suffix = one.zip(other).take_while(same).count();
        // What is new at the end of a table may stand before the first byte of the next one. A
        // table is the same if the end of the line before it is.
        let from = starts.partition_point(|start| *start < prefix).checked_sub(1)?;
        let until = starts.partition_point(|start| *start <= before.len() - suffix);
        let tail = starts.get(until).map_or(0, |start| before.len() - start);
        Some(Change { starts, from, until, tail })
    }

    /// The classes that are the same as before.
    fn others(&self, classes: usize) -> impl Iterator<Item = usize> + use<> {
        (0..self.from).chain(self.until..classes)
    }

    /// A plan of what comes before all classes, of these classes, and of those that may have
    /// changed.
    fn part(&self, before: &str, above: &[usize], after: &str) -> String {
        let Change { starts, from, tail, .. } = self;
        let mut part = before[..starts[0]].to_string();
        for class in above {
            let end = starts.get(class + 1).map_or(before.len(), |start| *start);
            part += &before[starts[*class]..end];
            part.push('\n');
        }
        part + &after[starts[*from]..after.len() - tail]
    }

    /// The classes of the whole plan. `part` begins with this number of classes `above` others;
    /// those that may have changed follow.
    fn classes(&self, before: &[Class], part: &[Class], above: usize) -> Option<Vec<Class>> {
        let Change { from, until, .. } = *self;
        let changed = &part[above..];
        // The streams of all classes together have a limit.
        if changed.iter().any(|class| class.count != 1 || class.loss.is_some()) {
            return None;
        }
        let number = |class: usize| ClassId::from_index(class);
        let moved = |class: ClassId| match class.index() {
            class if class < from => Some(number(class)),
            class if class < until => None,
            class => Some(number(class - until + from + changed.len())),
        };
        let above: Vec<ClassId> = self
            .others(before.len())
            .filter(|class| !before[*class].is_leaf())
            .map(|class| moved(number(class)))
            .collect::<Option<_>>()?;
        let moved_of_part = |class: ClassId| match above.get(class.index()) {
            Some(class) => *class,
            None => number(class.index() - above.len() + from),
        };
        let same = |class: &Class| {
            let parent = class.parent.map(moved);
            let parent = parent.map_or(Some(None), |parent| parent.map(Some))?;
            Some(Class { parent, children: Vec::new(), ..class.clone() })
        };
        let other = |class: &Class| {
            let parent = class.parent.map(moved_of_part);
            Some(Class { parent, children: Vec::new(), ..class.clone() })
        };
        let first = before[..from].iter().map(same);
        let last = before[until..].iter().map(same);
        let all = first.chain(changed.iter().map(other)).chain(last);
        let mut classes: Vec<Class> = all.collect::<Option<_>>()?;
        let names: HashSet<&str> = classes.iter().map(|class| class.name.as_str()).collect();
        if names.len() < classes.len() || classes.len() > MOST {
            return None;
        }
        for class in 0..classes.len() {
            if let Some(parent) = classes[class].parent {
                classes[parent.index()].children.push(number(class));
            }
        }
        // What a class may say depends on whether others are below it.
        let is_as_before = |class: usize| {
            moved(number(class))
                .is_some_and(|now| classes[now.index()].is_leaf() == before[class].is_leaf())
        };
        self.others(before.len()).all(is_as_before).then_some(classes)
    }
}

/// Where the tables of these classes begin, if every class has one of its own and nothing else
/// follows the first one.
fn table_starts(text: &str, classes: &[Class]) -> Option<Vec<usize>> {
    // A string of several lines may have any line in it.
    if text.contains("\"\"\"") || text.contains("'''") {
        return None;
    }
    let mut starts = Vec::with_capacity(classes.len());
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let header = line.trim_start_matches([' ', '\t']);
        let is_table = header.starts_with('[');
        if is_table && (header.starts_with("[class") || !starts.is_empty()) {
            if !is_header_of(header, &classes.get(starts.len())?.name) {
                return None;
            }
            starts.push(at);
        }
        at += line.len();
    }
    (starts.len() == classes.len()).then_some(starts)
}

/// Whether a line is the header of the table of the class with this name.
fn is_header_of(line: &str, name: &str) -> bool {
    let is_bare = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    let is_plain = !name.contains(['"', '\'', '\\']);
    let after = line.strip_prefix("[class.").and_then(|key| {
        let quoted = |quote: char| key.strip_prefix(quote)?.strip_prefix(name)?.strip_prefix(quote);
        let bare = key.strip_prefix(name).filter(|_| is_bare);
        bare.or_else(|| quoted('"').or_else(|| quoted('\'')).filter(|_| is_plain))
    });
    after.and_then(|after| after.strip_prefix(']')).is_some_and(|after| {
        let after = after.trim();
        after.is_empty() || after.starts_with('#')
    })
}
