//! Colours that stand out from the paper and from each other.
//!
//! There are two of each, for white and for dark paper. They can be told apart by readers without
//! red or green cones, too; where there are more subjects than colours, dashes tell them apart.

/// As many colours are told apart by everybody.
pub(crate) const HUES: usize = 7;

const ON_WHITE: [&str; HUES] =
    ["#135cba", "#e87203", "#007755", "#dd6688", "#aa77ff", "#661155", "#333300"];
const ON_DARK: [&str; HUES] =
    ["#2f8ad8", "#eba40d", "#77ffff", "#dd99aa", "#cc0077", "#ffffbb", "#227700"];

/// Dashes of lines, one for each colour, for readers who do not go by colours at all.
const DASHES: [&str; HUES] =
    ["none", "9 5", "3 5", "12 4 3 4", "18 6", "3 4 3 4 12 4", "12 4 12 4 3 4"];

/// The colour of a subject as SVG and CSS write it.
pub(super) fn on_white_paper(subject: usize) -> &'static str {
    ON_WHITE[subject % ON_WHITE.len()]
}

/// The class of what has a subject's colour.
pub(super) fn css_class(subject: usize) -> String {
    format!("ink-{}", subject % ON_WHITE.len())
}

/// The rules of a style sheet that give subjects their colours on dark paper.
pub(crate) fn on_dark_paper() -> String {
    let rule = |(at, colour)| format!(".{}{{color:{colour}}}", css_class(at));
    let rules: String = ON_DARK.iter().enumerate().map(rule).collect();
    format!("@media screen and (prefers-color-scheme:dark){{{rules}}}\n")
}

/// The rules of a style sheet that give classes `subject-0` and so on the variables `--subject`, a
/// colour, and `--dash`, for as many subjects as there are colours. All are different.
pub(crate) fn subjects() -> String {
    let rules = |colours: [&str; HUES]| -> String {
        let rule = |(at, colour)| format!(".subject-{at}{{--subject:{colour}}}");
        colours.iter().enumerate().map(rule).collect()
    };
    let rule = |(at, dash)| format!(".subject-{at}{{--dash:{dash}}}");
    let dashes: String = DASHES.iter().enumerate().map(rule).collect();
    let (light, dark) = (rules(ON_WHITE), rules(ON_DARK));
    format!("{light}{dashes}\n@media (prefers-color-scheme:dark){{{dark}}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Style;
    use crate::figures::MOST_CLASSES;

    type Rgb = [f64; 3];
    /// From linear RGB as everybody sees it to what is seen without the cones for red or for green
    /// (Machado, Oliveira, Fernandes 2009, table 1, severity 1).
    const NO_RED: [Rgb; 3] = [
        [0.152_286, 1.052_583, -0.204_868],
        [0.114_503, 0.786_281, 0.099_216],
        [-0.003_882, -0.048_116, 1.051_998],
    ];
    const NO_GREEN: [Rgb; 3] = [
        [0.367_322, 0.860_646, -0.227_968],
        [0.280_085, 0.672_501, 0.047_413],
        [-0.011_820, 0.042_940, 0.968_881],
    ];
    const ALL: [Rgb; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

    fn times(matrix: &[Rgb; 3], by: Rgb) -> Rgb {
        matrix.map(|row| row.iter().zip(by).map(|(a, b)| a * b).sum())
    }

    fn linear(colour: &str) -> Rgb {
        [1, 3, 5].map(|at| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        })
    }

    /// CIELAB under the daylight of screens.
    fn seen(colour: &str, cones: &[Rgb; 3]) -> Rgb {
        const TO_XYZ: [Rgb; 3] = [
            [0.412_456_4, 0.357_576_1, 0.180_437_5],
            [0.212_672_9, 0.715_152_2, 0.072_175_0],
            [0.019_333_9, 0.119_192_0, 0.950_304_1],
        ];
        const WHITE: Rgb = [0.950_47, 1.0, 1.088_83];
        let light = times(cones, linear(colour)).map(|value| value.clamp(0.0, 1.0));
        let xyz = times(&TO_XYZ, light);
        let [x, y, z] = [0, 1, 2].map(|at| {
            let part = xyz[at] / WHITE[at];
            if part > 216.0 / 24_389.0 {
                part.cbrt()
            } else {
                (24_389.0 / 27.0 * part + 16.0) / 116.0
            }
        });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// CIEDE2000 (Sharma, Wu, Dalal 2005).
    fn difference([l1, a1, b1]: Rgb, [l2, a2, b2]: Rgb) -> f64 {
        let pull = |chroma: f64| (chroma.powi(7) / (chroma.powi(7) + 25f64.powi(7))).sqrt();
        let stretch = 1.5 - pull(a1.hypot(b1).midpoint(a2.hypot(b2))) / 2.0;
        let (a1, a2) = (a1 * stretch, a2 * stretch);
        let (c1, c2) = (a1.hypot(b1), a2.hypot(b2));
        let hue = |a: f64, b: f64| b.atan2(a).to_degrees().rem_euclid(360.0);
        let (h1, h2) = (hue(a1, b1), hue(a2, b2));
        let turn = match h2 - h1 {
            _ if c1 * c2 == 0.0 => 0.0,
            turn if turn > 180.0 => turn - 360.0,
            turn if turn < -180.0 => turn + 360.0,
            turn => turn,
        };
        let (light, chroma) = (l1.midpoint(l2), c1.midpoint(c2));
        let hue = if c1 * c2 == 0.0 { h1 + h2 } else { h1 + turn / 2.0 };
        let cos = |degrees: f64| degrees.to_radians().cos();
        let t = 1.0 - 0.17 * cos(hue - 30.0) + 0.24 * cos(2.0 * hue) + 0.32 * cos(3.0 * hue + 6.0)
            - 0.20 * cos(4.0 * hue - 63.0);
        let middle = (light - 50.0).powi(2);
        let by_light = (l2 - l1) / (1.0 + 0.015 * middle / (20.0 + middle).sqrt());
        let by_chroma = (c2 - c1) / (1.0 + 0.045 * chroma);
        let by_hue =
            2.0 * (c1 * c2).sqrt() * (turn / 2.0).to_radians().sin() / (1.0 + 0.015 * chroma * t);
        let bend = 60.0 * (-((hue.rem_euclid(360.0) - 275.0) / 25.0).powi(2)).exp();
        let crossed = -2.0 * pull(chroma) * bend.to_radians().sin() * by_chroma * by_hue;
        (by_light.powi(2) + by_chroma.powi(2) + by_hue.powi(2) + crossed).sqrt()
    }

    fn apart(a: &str, b: &str, cones: &[Rgb; 3]) -> f64 {
        difference(seen(a, cones), seen(b, cones))
    }

    /// WCAG 2.2, contrast ratio.
    fn contrast(a: &str, b: &str) -> f64 {
        let light = |colour| times(&[[0.2126, 0.7152, 0.0722]; 3], linear(colour))[0] + 0.05;
        let (a, b) = (light(a), light(b));
        a.max(b) / a.min(b)
    }

    /// Pairs of Sharma, Wu, Dalal 2005, table 1.
    #[test]
    fn differences_are_those_of_the_paper() {
        for (a, b, wanted) in [
            ([50.0, 2.6772, -79.7751], [50.0, 0.0, -82.7485], 2.0425),
            ([50.0, 2.5, 0.0], [50.0, 0.0, -2.5], 4.3065),
            ([50.0, 2.5, 0.0], [61.0, -5.0, 29.0], 22.8977),
            ([60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644),
            ([2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082),
        ] {
            assert!((difference(a, b) - wanted).abs() < 5e-5, "{a:?} {b:?}");
        }
    }

    #[test]
    fn colours_stand_out_and_are_told_apart_by_everybody() {
        for (paper, colours) in [("#ffffff", ON_WHITE), ("#14171b", ON_DARK)] {
            for (at, a) in colours.iter().enumerate() {
                // WCAG 2.2, criterion 1.4.11, asks for 3 between what is drawn and what is behind.
                assert!(contrast(a, paper) >= 3.0, "{a} on {paper}");
                for b in &colours[..at] {
                    // About 1 is just seen side by side; lines lie apart and are thin.
                    assert!(apart(a, b, &ALL) >= 24.0, "{a} {b}");
                    for cones in [&NO_RED, &NO_GREEN] {
                        assert!(apart(a, b, cones) >= 16.0, "{a} {b} {}", apart(a, b, cones));
                    }
                }
            }
        }
    }

    #[test]
    fn no_two_classes_of_a_figure_have_a_style_in_common() {
        let styles: Vec<Style> = (0..MOST_CLASSES).map(Style::new).collect();
        for (at, a) in styles.iter().enumerate() {
            for b in &styles[..at] {
                assert!(a.colour() != b.colour() || a.dash != b.dash, "{a:?} {b:?}");
                assert_eq!(a.colour() == b.colour(), a.css_class() == b.css_class());
            }
        }
        // What is nearest to each other differs in dashes, too.
        let far = |colours: [&str; HUES], a: usize, b: usize| {
            [&NO_RED, &NO_GREEN]
                .into_iter()
                .all(|cones| apart(colours[a], colours[b], cones) >= 17.5)
        };
        for (a, b) in (0..HUES).flat_map(|a| (0..a).map(move |b| (a, b))) {
            let is_far = [ON_WHITE, ON_DARK].into_iter().all(|colours| far(colours, a, b));
            assert!(is_far || styles[a].dash != styles[b].dash, "{a} {b}");
        }
    }
}
