//! From points on paper to the data of an SVG path.

use std::fmt::Write;

use super::description::Mark;

/// More points than a chart has pixels only make it heavy.
const MOST_POINTS: usize = 2000;

/// The path of points that are places on paper; `None` is a gap. `floor` is where the horizontal
/// axis lies.
pub(super) fn path(points: &[Option<(f64, f64)>], mark: Mark, floor: f64) -> String {
    let drawable = points.iter().flatten().count();
    let mut data = String::new();
    for run in points.split(Option::is_none) {
        let run: Vec<(f64, f64)> = run.iter().flatten().copied().collect();
        let share = MOST_POINTS * run.len() / drawable.max(1);
        draw(&thinned(&run, share.max(4)), mark, floor, &mut data);
    }
    data
}

fn draw(points: &[(f64, f64)], mark: Mark, floor: f64, data: &mut String) {
    for (at, (x, y)) in points.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = match mark {
            Mark::Points => write!(data, "M{x:.1} {y:.1}h0"),
            Mark::Sticks => write!(data, "M{x:.1} {floor:.1}V{y:.1}"),
            _ if at == 0 => write!(data, "M{x:.1} {y:.1}"),
            Mark::Line | Mark::Beads => write!(data, "L{x:.1} {y:.1}"),
            Mark::Step => write!(data, "H{x:.1}V{y:.1}"),
        };
    }
    if points.len() == 1 && matches!(mark, Mark::Line | Mark::Beads | Mark::Step) {
        data.push_str("h0");
    }
}

/// At most about `most` of the points: the lowest and the highest of each stretch, in order, and
/// both ends.
fn thinned(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    if points.len() <= most {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil((most / 2 - 1).max(1));
    let mut kept = vec![points[0]];
    for part in points[1..points.len() - 1].chunks(stretch) {
        let by_height = |a: &usize, b: &usize| part[*a].1.total_cmp(&part[*b].1);
        let low = (0..part.len()).min_by(by_height).expect("chunks are not empty");
        let high = (0..part.len()).max_by(by_height).expect("chunks are not empty");
        kept.push(part[low.min(high)]);
        if low != high {
            kept.push(part[low.max(high)]);
        }
    }
    kept.push(points[points.len() - 1]);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_break_a_line_and_single_points_show() {
        let points = [Some((0.0, 1.0)), Some((2.0, 3.0)), None, Some((5.0, 5.0))];
        assert_eq!(path(&points, Mark::Line, 9.0), "M0.0 1.0L2.0 3.0M5.0 5.0h0");
        assert_eq!(path(&points, Mark::Step, 9.0), "M0.0 1.0H2.0V3.0M5.0 5.0h0");
        assert_eq!(path(&points[..1], Mark::Sticks, 9.0), "M0.0 9.0V1.0");
        assert_eq!(path(&[], Mark::Line, 9.0), "");
    }

    #[test]
    fn thinning_keeps_peaks_and_ends() {
        let points: Vec<_> = (0..100_000)
            .map(|x| (f64::from(x), if x == 54_321 { 99.0 } else { f64::from(x % 7) }))
            .collect();
        let kept = thinned(&points, MOST_POINTS);
        assert!(kept.len() <= MOST_POINTS);
        assert!(kept.contains(&(54_321.0, 99.0)));
        assert_eq!((kept[0], kept[kept.len() - 1]), (points[0], points[99_999]));
        assert!(kept.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn many_gaps_stay_within_the_limit() {
        let points: Vec<_> =
            (0..9000).map(|x| (x % 3 > 0).then_some((f64::from(x), 1.0))).collect();
        assert!(path(&points, Mark::Line, 0.0).matches('L').count() <= 3000);
    }
}
