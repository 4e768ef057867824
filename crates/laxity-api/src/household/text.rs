//! The text of a household's plan, with comments that teach.

use std::fmt::Write as _;

use laxity::sched::cake::{CakeSettings, Diffserv};
use laxity::units::Rate;
use laxity_plan::model::CakeSpec;
use laxity_plan::written;

use super::draft::{DelayClass, Draft, Share};
use super::{Direction, Side};

impl Draft<'_> {
    /// The plan.
    pub(super) fn text(&self) -> String {
        let classes = self.delay_classes();
        let shares = self.shares();
        let mut text = self.head(&classes);
        text += &self.link();
        text += SCHEDULER;
        text += &self.real_time();
        classes.iter().for_each(|class| text += &self.delay_class_text(class));
        shares.iter().for_each(|share| text += &self.share_text(share));
        text += "\n# A trial: traffic such as a household has, all of it at once. `laxity live` ignores it.\n";
        text += "[run]\nduration = \"10s\"\n";
        classes.iter().for_each(|class| text += &class.source());
        shares.iter().for_each(|share| text += &self.sources(share));
        text
    }

    fn head(&self, classes: &[DelayClass]) -> String {
        let direction = self.direction;
        let what = match direction {
            Direction::Up => "uplink",
            Direction::Down => "downlink",
        };
        let names: Vec<&str> = classes.iter().map(|class| class.application.word).collect();
        let title = format!("Household {what}: {} within their deadlines", names.join(", "));
        let mut text = format!(
            "# The {what} of a household. Change what you like, and have it proved again:\n\
             #   laxity check {direction}.toml     what is promised to whom, and whether it holds\n\
             #   laxity run {direction}.toml       a trial, with the traffic at the end of this file\n"
        );
        for remark in &self.household.remarks {
            let _ = writeln!(text, "# {}", one_line(remark));
        }
        let _ = write!(text, "version = 1\ntitle = {}\n", written::quoted(&title));
        text
    }

    fn link(&self) -> String {
        let Side { overhead, reasons, .. } = self.side();
        let mut text = String::from("\n[link]\n");
        for reason in reasons {
            let _ = writeln!(text, "# {}", one_line(reason));
        }
        let _ = writeln!(text, "rate = \"{}\"", self.side().rate());
        if let Some(overhead) = written::overhead(overhead) {
            let _ = write!(
                text,
                "# What the link adds to every frame: lengths below are what packets take there.\n\
                 overhead = {overhead}\n"
            );
        }
        text
    }

    fn real_time(&self) -> String {
        let share = self.promises.share;
        format!(
            "\n# Who must not wait: here the earliest deadline goes first. The share is the smallest, in steps of\n\
             # 5 %, with which the deadlines below are proved. They are promised to packets within `arrival`;\n\
             # what exceeds it is sent behind them, without a promise.\n\
             [class.real-time]\n\
             weight = {share:<20} # percent\n\
             scheduler = {{ kind = \"edf\", best-effort = \"background\" }}\n"
        )
    }

    fn delay_class_text(&self, class: &DelayClass) -> String {
        let DelayClass { application, deadline, uses, rate_each, bucket, packet, matching } = class;
        let word = application.word;
        let devices = self.household.devices;
        let rate = Rate(rate_each.0 * u64::from(*uses));
        format!(
            "\n# {}\n\
             # {uses} at the same time, for {devices} devices, with {rate_each} each.\n\
             [class.{word}]\n\
             parent = \"real-time\"\n\
             deadline = \"{deadline}\"\n\
             arrival = {{ bucket = \"{}b\", rate = \"{rate}\", packet = \"{}b\" }}\n\
             police = \"demote\"\n\
             match = {}\n",
            application.examples,
            bucket.0,
            packet.0,
            any_of(matching)
        )
    }

    fn share_text(&self, share: &Share) -> String {
        let Share { name, examples, weight, matching } = share;
        format!(
            "\n# {examples}\n\
             [class.{name}]\n\
             weight = {weight:<20} # percent\n\
             scheduler = {{ {} }}\n\
             match = {}\n",
            self.flows(),
            any_of(matching)
        )
    }

    /// Hosts and flows take turns, and each flow's queue is kept short. What is sorted by code
    /// points has shares of its own.
    fn flows(&self) -> String {
        let CakeSpec { settings, .. } = self.side().queues;
        let settings = CakeSettings { diffserv: Diffserv::Besteffort, ..settings };
        written::cake(&CakeSpec { settings, ..self.side().queues }).join(", ")
    }

    /// Traffic of a share, for a trial.
    fn sources(&self, share: &Share) -> String {
        let devices = self.household.devices.min(MOST_SOURCES);
        let rate = self.side().rate();
        let backlogged = |count: u32| {
            format!(
                "\n[[source]]\nclass = \"{}\"\nmodel = \"backlogged\"\npacket = \"1400b\"\nwindow = 1\ncount = {count}\n",
                share.name
            )
        };
        match share.name {
            "rest" => backlogged(devices),
            "background" => backlogged(4),
            name => format!(
                "\n[[source]]\nclass = \"{name}\"\nmodel = \"on-off\"\nrate = \"{}\"\npacket = \"1400b\"\n\
                 on = {{ exponential = \"500ms\" }}\noff = {{ exponential = \"2s\" }}\nstagger = \"2s\"\n",
                Rate((rate.0 / 4).max(1))
            ),
        }
    }
}

/// The most flows of a kind in a trial.
const MOST_SOURCES: u32 = 20;

const SCHEDULER: &str = "
[scheduler]
# The link is shared by weight. What a share does not use goes to the others: no weight is a limit.
kind = \"wf2q\"
";

impl DelayClass {
    /// Traffic of the class, for a trial: as much at once as its contract allows.
    fn source(&self) -> String {
        format!(
            "\n[[source]]\nclass = \"{}\"\nmodel = \"greedy\"\npacket = \"{}b\"\n\
             burst = {{ uniform = [\"5ms\", \"40ms\"] }}\nspacing = {{ uniform = [\"10ms\", \"60ms\"] }}\n",
            self.application.word, self.packet.0
        )
    }
}

/// The value of a `match` of packets that pass one of these tests, a line for each.
fn any_of(tests: &[String]) -> String {
    match tests {
        [one] => written::quoted(one),
        several => format!("\"\"\"\n    {}\"\"\"", several.join("\n    or ")),
    }
}

/// A text for a comment: nothing in it ends the line.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
