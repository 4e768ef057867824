//! What hangs at disciplines that are not there.

/// How much hangs at a discipline that is not there, and the first line of it.
#[derive(Debug, Default)]
pub(super) struct Elsewhere {
    pub line: usize,
    pub classes: usize,
    pub qdiscs: usize,
    pub filters: usize,
}

impl Elsewhere {
    /// A sentence for notes.
    pub(super) fn text(&self, major: u16) -> String {
        let count = |number: usize, one: &str, many: &str| match number {
            0 => None,
            1 => Some(format!("1 {one}")),
            number => Some(format!("{number} {many}")),
        };
        let all = [
            count(self.classes, "class", "classes"),
            count(self.qdiscs, "qdisc", "qdiscs"),
            count(self.filters, "filter", "filters"),
        ];
        let all: Vec<String> = all.into_iter().flatten().collect();
        format!(
            "{} of {major:x}:, which is neither the root nor a discipline at a class that is read",
            all.join(", ")
        )
    }
}
