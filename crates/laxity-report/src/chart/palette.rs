//! Colours that stand out from the paper and from each other.
//!
//! There are two of each, for white and for dark paper. The first [`HUES`] can be told apart by readers
//! without red or green cones, too; the rest are told apart by these with the dashes that go with them.

/// As many colours are told apart by everybody.
pub(super) const HUES: usize = 7;

const ON_WHITE: [&str; 2 * HUES] = [
    "#135cba", "#e87203", "#1ba37a", "#a6447b", "#2f9bd6", "#a45c03", "#644600", //
    "#00416c", "#711e1a", "#00513b", "#7a105e", "#7a5fd0", "#f03f42", "#52545e",
];
const ON_DARK: [&str; 2 * HUES] = [
    "#2f8ad8", "#eba40d", "#00f4b2", "#b698a6", "#79d9ff", "#e46131", "#dfea37", //
    "#a5adff", "#fed08a", "#b2f7dd", "#ff8ddc", "#9b7bf9", "#ff9087", "#e4bed9",
];

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

#[cfg(test)]
mod tests {
    use super::*;

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

    /// The coordinates in which distances are alike to the eye: OKLab (Ottosson 2020).
    fn seen(colour: &str, cones: &[Rgb; 3]) -> Rgb {
        const TO_CONES: [Rgb; 3] = [
            [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
            [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
            [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
        ];
        const TO_LAB: [Rgb; 3] = [
            [0.210_454_255_3, 0.793_617_785_0, -0.004_072_046_8],
            [1.977_998_495_1, -2.428_592_205_0, 0.450_593_709_9],
            [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766_0],
        ];
        let light = times(cones, linear(colour)).map(|value| value.max(0.0));
        times(&TO_LAB, times(&TO_CONES, light).map(f64::cbrt))
    }

    fn apart(a: &str, b: &str, cones: &[Rgb; 3]) -> f64 {
        let square = |(a, b): (f64, f64)| (a - b) * (a - b);
        seen(a, cones).into_iter().zip(seen(b, cones)).map(square).sum::<f64>().sqrt()
    }

    /// WCAG 2.2, contrast ratio.
    fn contrast(a: &str, b: &str) -> f64 {
        let light = |colour| times(&[[0.2126, 0.7152, 0.0722]; 3], linear(colour))[0] + 0.05;
        let (a, b) = (light(a), light(b));
        a.max(b) / a.min(b)
    }

    #[test]
    fn colours_stand_out_and_are_told_apart() {
        for (paper, colours) in [("#ffffff", ON_WHITE), ("#14171b", ON_DARK)] {
            for (at, a) in colours.iter().enumerate() {
                // WCAG 2.2, criterion 1.4.11, asks for 3 between what is drawn and what is behind.
                assert!(contrast(a, paper) >= 3.0, "{a} on {paper}");
                for (before, b) in colours[..at].iter().enumerate() {
                    // A tenth of the way from black to white is plain to see, side by side or not.
                    assert!(apart(a, b, &ALL) >= 0.1, "{a} {b}");
                    let same_dashes = at / HUES == before / HUES && at < HUES;
                    for cones in [&NO_RED, &NO_GREEN].into_iter().filter(|_| same_dashes) {
                        assert!(apart(a, b, cones) >= 0.1, "{a} {b}");
                    }
                }
            }
        }
    }
}
