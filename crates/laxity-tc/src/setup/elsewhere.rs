//! What hangs at disciplines that are not there.

use super::Setup;

/// How much hangs at a discipline that is not there, and the first line of it.
#[derive(Debug, Default)]
pub(super) struct Elsewhere {
    line: usize,
    pub classes: usize,
    pub qdiscs: usize,
    pub filters: usize,
}

impl Setup {
    pub(super) fn elsewhere(&mut self, major: u16, line: usize) -> &mut Elsewhere {
        self.elsewhere.entry(major).or_insert(Elsewhere { line, ..Elsewhere::default() })
    }

    /// Tells what hangs at disciplines that are not there, one note for each.
    pub fn tell_elsewhere(&mut self) {
        for (major, Elsewhere { line, classes, qdiscs, filters }) in
            std::mem::take(&mut self.elsewhere)
        {
            let count = |number: usize, one: &str, many: &str| match number {
                0 => None,
                1 => Some(format!("1 {one}")),
                number => Some(format!("{number} {many}")),
            };
            let all = [
                count(classes, "class", "classes"),
                count(qdiscs, "qdisc", "qdiscs"),
                count(filters, "filter", "filters"),
            ];
            let all: Vec<String> = all.into_iter().flatten().collect();
            let text = format!(
                "{} of {major:x}:, which is neither the root nor a discipline at a class that is read",
                all.join(", ")
            );
            self.notes.not_mapped(line, text);
        }
    }
}
