//! The lower and upper envelope of line segments.

use super::{Curve, Exact, Piece};
use alloc::vec;
use alloc::vec::Vec;
use num_traits::Zero;

/// A piece of some line from its start up to, but without, its end, or for ever.
pub(super) struct Segment {
    pub piece: Piece,
    /// After the start.
    pub end: Option<Exact>,
}

/// The infimum at each time of the segments that are there. They start no earlier than time 0 and
/// leave no time from 0 on uncovered.
pub(super) fn lower_envelope(segments: impl IntoIterator<Item = Segment>) -> Curve {
    lowest(segments.into_iter().map(Partial::from).collect()).into_curve()
}

/// The minimum of at least one curve with gaps, two by two, so that each piece is looked at few
/// times.
pub(super) fn lowest(mut partials: Vec<Partial>) -> Partial {
    while partials.len() > 1 {
        partials = partials
            .chunks(2)
            .map(|pair| match pair {
                [a, b] => a.minimum(b),
                rest => rest[0].clone(),
            })
            .collect();
    }
    partials.remove(0)
}

/// The supremum at each time of the segments that are there, under the same conditions.
pub(super) fn upper_envelope(segments: impl IntoIterator<Item = Segment>) -> Curve {
    lower_envelope(segments.into_iter().map(Segment::negate)).negate()
}

impl Segment {
    fn negate(self) -> Segment {
        let Piece { start, value, slope } = self.piece;
        Segment { piece: Piece { start, value: -value, slope: -slope }, end: self.end }
    }
}

/// A curve with gaps, in which it counts as infinitely high.
#[derive(Clone)]
pub(super) struct Partial {
    /// The first at time 0, starts strictly increasing.
    spans: Vec<Span>,
}

#[derive(Clone)]
struct Span {
    start: Exact,
    /// The line that holds from `start` on, which may be given by a piece that starts earlier.
    line: Option<Piece>,
}

impl Partial {
    pub(super) fn minimum(&self, other: &Partial) -> Partial {
        let (mut mine, mut theirs) = (&self.spans[..], &other.spans[..]);
        let mut lower = Partial { spans: Vec::new() };
        let mut start = Exact::zero();
        loop {
            let (my_end, their_end) = (mine.get(1), theirs.get(1));
            let end = [my_end, their_end].into_iter().flatten().map(|span| &span.start).min();
            lower.push_lower(&start, end, &mine[0].line, &theirs[0].line);
            let Some(end) = end else { return lower };
            if my_end.is_some_and(|span| span.start == *end) {
                mine = &mine[1..];
            }
            if their_end.is_some_and(|span| span.start == *end) {
                theirs = &theirs[1..];
            }
            start = end.clone();
        }
    }

    /// Appends the lower one of two lines from `start` to `end`, and the other after they cross.
    fn push_lower(
        &mut self,
        start: &Exact,
        end: Option<&Exact>,
        a: &Option<Piece>,
        b: &Option<Piece>,
    ) {
        let (Some(a), Some(b)) = (a, b) else {
            return self.push(start.clone(), a.as_ref().or(b.as_ref()));
        };
        let (at_a, at_b) = (a.at(start), b.at(start));
        let a_first = (&at_a, &a.slope) <= (&at_b, &b.slope);
        let (first, second) = if a_first { (a, b) } else { (b, a) };
        self.push(start.clone(), Some(first));
        if second.slope < first.slope {
            let gap = if a_first { at_b - at_a } else { at_a - at_b };
            let crossing = start + gap / (&first.slope - &second.slope);
            if end.is_none_or(|end| crossing < *end) {
                self.push(crossing, Some(second));
            }
        }
    }

    fn push(&mut self, start: Exact, line: Option<&Piece>) {
        if let Some(last) = self.spans.last() {
            let same = match (&last.line, line) {
                (Some(last), Some(line)) => {
                    last.slope == line.slope && last.at(&start) == line.at(&start)
                }
                (None, None) => true,
                _ => false,
            };
            if same {
                return;
            }
        }
        self.spans.push(Span { start, line: line.cloned() });
    }

    pub(super) fn into_curve(self) -> Curve {
        Curve::canonical(self.spans.into_iter().map(|Span { start, line }| {
            let line = line.expect("segments cover every time from 0 on");
            Piece { value: line.at(&start), start, slope: line.slope }
        }))
    }
}

impl From<&Curve> for Partial {
    fn from(curve: &Curve) -> Partial {
        let span = |piece: &Piece| Span { start: piece.start.clone(), line: Some(piece.clone()) };
        Partial { spans: curve.pieces.iter().map(span).collect() }
    }
}

impl From<Segment> for Partial {
    fn from(Segment { piece, end }: Segment) -> Partial {
        let mut spans = vec![];
        if !piece.start.is_zero() {
            spans.push(Span { start: Exact::zero(), line: None });
        }
        spans.push(Span { start: piece.start.clone(), line: Some(piece) });
        spans.extend(end.map(|end| Span { start: end, line: None }));
        Partial { spans }
    }
}
