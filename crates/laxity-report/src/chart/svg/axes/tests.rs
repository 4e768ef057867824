//! Markers, labels and values of one chart.

use crate::chart::{Along, Axis, Chart, Dash, Mark, Marker, Paper, Series, Style, Unit};

fn chart(points: Vec<(f64, f64)>) -> Chart {
    let marker = |at, along, label: &str| Marker {
        along,
        at,
        label: label.to_owned(),
        meaning: "deadline".to_owned(),
        style: Style::new(0).dashed(Dash::Dashed),
    };
    Chart {
        title: "A < B".into(),
        x: Axis::log("Delay", Unit::Time),
        y: Axis::log("Share", Unit::Share),
        series: vec![Series {
            name: "voice".into(),
            mark: Mark::Step,
            style: Style::new(0),
            points,
        }],
        markers: vec![marker(5e-3, Along::Y, "voice 5 ms"), marker(0.01, Along::X, "1 in 100")],
    }
}

#[test]
fn markers_are_drawn_and_named() {
    let svg = chart(vec![(1e-3, 1.0), (4e-3, 0.001)]).svg();
    for wanted in
        ["voice 5 ms", "1 in 100", "A &lt; B", "stroke-dasharray", ">deadline<", "viewBox"]
    {
        assert!(svg.contains(wanted), "{wanted}");
    }
}

#[test]
fn who_points_at_a_curve_is_told_values() {
    let svg = chart(vec![(1e-3, 1.0), (4e-3, 0.001)]).svg().replace('\u{a0}', " ");
    assert!(svg.contains("<title>voice: 0.1 % at 4 ms</title>"), "{svg}");
    let many = (1..100_000).map(|at| (f64::from(at) * 1e-6, 1.0 / f64::from(at))).collect();
    let told = chart(many).svg().matches("<title>voice: ").count();
    assert!((15..=super::MOST_HINTS).contains(&told), "{told}");
}

#[test]
fn neither_nan_nor_infinity_reaches_the_paper() {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e300, 5e-324, 1.0];
    let points: Vec<_> = odd.iter().flat_map(|x| odd.map(|y| (*x, y))).collect();
    for mark in [Mark::Line, Mark::Step, Mark::Points, Mark::Sticks] {
        for log in [true, false] {
            let mut chart = chart(points.clone());
            chart.series[0].mark = mark;
            chart.markers[0].at = f64::NAN;
            if !log {
                chart.x = Axis::linear("", Unit::Number);
                chart.y = Axis { range: Some((f64::NAN, 1.0)), ..Axis::linear("", Unit::Rate) };
            }
            let svg = chart.svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}

#[test]
fn labels_of_ticks_stand_apart() {
    for unit in [Unit::Time, Unit::Rate, Unit::Size] {
        for power in -8..11 {
            let of = 10f64.powi(power);
            let mut chart = chart(vec![(of, 0.1), (of * 25.0, 0.9)]);
            chart.markers.clear();
            for x in [Axis::log("x", unit), Axis::linear("x", unit)] {
                chart.x = x;
                let svg =
                    crate::chart::Figure::panels("", vec![chart.clone()], 2).on(Paper::Narrow);
                let labels = middles(&svg);
                assert!(labels.len() >= 2, "{svg}");
                for pair in labels.windows(2) {
                    assert!(pair[0].1 <= pair[1].0 + 0.2, "{pair:?} {svg}");
                }
            }
        }
    }
}

/// From where to where the labels of the horizontal axis reach.
fn middles(svg: &str) -> Vec<(f64, f64)> {
    let texts = svg.split("<text x=\"").skip(1).filter_map(|text| {
        let (x, rest) = text.split_once('"')?;
        let (attributes, rest) = rest.split_once('>')?;
        let label = rest.split('<').next()?;
        let half = super::text_width(label, super::TEXT) / 2.0;
        let x: f64 = x.parse().ok()?;
        (attributes.contains("middle") && label != "x").then_some((x - half, x + half))
    });
    texts.collect()
}

#[test]
fn an_empty_chart_says_so() {
    assert!(chart(vec![]).svg().contains("no data"));
    assert!(Chart::default().svg().contains("no data"));
    assert!(crate::chart::panels("none", &[], 2).contains("none"));
}
