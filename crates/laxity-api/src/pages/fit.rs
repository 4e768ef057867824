//! FitResult arrival curves as text.

use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_report::{quantity, table, visible};
use toml_writer::{ToTomlKey, TomlKeyBuilder};

use crate::fit::FitResult;

impl FitResult {
    /// The curves as lines of a plan, after a table of what the classes sent.
    pub fn text(&self, plan: &Plan) -> String {
        let mut rows = Vec::new();
        let mut lines = String::new();
        for (id, class) in plan.leaves() {
            let Some(fitted) = &self.arrivals[id.index()] else {
                let nothing = quantity::NOTHING.to_string();
                rows.push(vec![class.name.clone(), "0".to_string(), nothing.clone(), nothing]);
                continue;
            };
            rows.push(vec![
                class.name.clone(),
                quantity::count(fitted.packets),
                quantity::megabits(fitted.mean_bps),
                fitted.packet.0.to_string(),
            ]);
            lines += &format!("[class.{}]\n{fitted}\n\n", toml_key(&class.name));
        }
        let header = ["class", "packets", "mean [Mbit/s]", "largest [B]"];
        let from = match self.fit.from {
            Nanos::ZERO => String::new(),
            from => format!(" from {} on", quantity::time(from.0 as f64)),
        };
        format!(
            "{}\n\nAll recorded packets{from} keep to these curves. The first rate lies {} % above the \
             mean,\na second one is the link's.\n\n{lines}",
            table::table(&header, &rows),
            self.fit.headroom_percent
        )
    }
}

/// A class's name as TOML wants it, quoted unless it is plain, and as a terminal shows it
/// unchanged.
fn toml_key(name: &str) -> String {
    let key = TomlKeyBuilder::new(name);
    let key = key.as_unquoted().unwrap_or_else(|| key.as_basic());
    visible::json(&key.to_toml_key()).into_owned()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg32;

    use super::*;

    /// A table header parses back to the name of the class, and no character in it acts on a
    /// display.
    #[test]
    fn any_name_is_read_back_as_it_was() {
        let odd = "ab-_9 .,#='\"\\\n\r\t\0\u{8}\u{1b}\u{7f}\u{85}\u{9b}é语\u{200f}\u{2028}\u{202e}\u{2066}😀";
        let odd: Vec<char> = odd.chars().collect();
        let mut names = ["", "plain", "a.b", "\"\"\"", "\u{202e}'"].map(str::to_string).to_vec();
        for seed in 0..2_000 {
            let mut rng = Pcg32::seed_from_u64(seed);
            let length = rng.random_range(1..12);
            names.push((0..length).map(|_| odd[rng.random_range(0..odd.len())]).collect());
        }
        for name in names {
            let header = format!("[class.{}]", toml_key(&name));
            assert_eq!(visible::line(&header), header, "{name:?}");
            let read: toml::Table =
                header.parse().unwrap_or_else(|error| panic!("{name:?}: {error}"));
            let classes = read["class"].as_table().unwrap();
            assert_eq!(classes.keys().collect::<Vec<_>>(), [&name], "{header}");
        }
    }
}
