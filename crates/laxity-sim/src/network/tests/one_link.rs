//! A network that has one link is what the run over one link makes of it.

use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::link::Run;

/// What became of each packet, in the order in which it was told: its class, flow, length and
/// arrival.
#[derive(Debug, Default, PartialEq)]
struct Fates(Vec<(ClassId, FlowId, u32, Nanos, Fate)>);

impl Observer for Fates {
    fn record(&mut self, record: &Record) {
        let Packet { class, flow, length, arrival, .. } = record.packet;
        self.0.push((class, flow, length, arrival, record.fate));
    }
}

/// A recording in a file of its own.
pub(super) struct Recorded(std::path::PathBuf);

impl Recorded {
    pub(super) fn new(packets: &[(u64, char, u32, u32)]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("laxity-one-link-{}-{number}.csv", std::process::id());
        let row = |(time, class, flow, length): &(u64, char, u32, u32)| {
            format!("{time},{class},{flow},{length}\n")
        };
        let rows: String = packets.iter().map(row).collect();
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, format!("time_ns,class,flow,length\n{rows}")).unwrap();
        Recorded(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).unwrap();
    }
}

/// What feeds a class.
#[derive(Clone, Copy, Debug)]
enum Feeding {
    Poisson,
    /// Packets of copies, from a time on that differs from class to class.
    Backlogged(u32, u32),
    Recording,
}

fn feeding() -> impl Strategy<Value = Feeding> {
    prop_oneof![
        Just(Feeding::Poisson),
        // No more at once than a limit of 9 lets in: which of more get in, a network draws.
        (1..4u32, 1..4u32).prop_map(|(window, count)| Feeding::Backlogged(window, count)),
        Just(Feeding::Recording),
    ]
}

/// A source of a class, without its path.
fn source(class: char, feeding: Feeding, recorded: &Recorded) -> String {
    let lengths = "packet = { uniform = [\"40b\", \"1000b\"] }\nstop = \"3s\"";
    match feeding {
        Feeding::Poisson => format!(
            "[[source]]\nclass = \"{class}\"\nmodel = \"poisson\"\nrate = \"400kbit\"\n{lengths}\n"
        ),
        Feeding::Backlogged(window, count) => format!(
            "[[source]]\nclass = \"{class}\"\nmodel = \"backlogged\"\nwindow = {window}\ncount = {count}\n\
             start = \"{}1234567ns\"\n{lengths}\n",
            u32::from(class),
        ),
        Feeding::Recording => {
            format!("[[source]]\nmodel = \"csv\"\nfile = '{}'\n", recorded.0.display())
        }
    }
}

/// Packets of the classes that are recorded, in order of time.
fn packets(recorded: &[char], drawn: &[(u64, u32, u32)]) -> Vec<(u64, char, u32, u32)> {
    let mut time = 0;
    let classes = recorded.iter().cycle();
    let packet = |((gap, flow, length), class): (&(u64, u32, u32), &char)| {
        time += gap;
        (time, *class, *flow, *length)
    };
    drawn.iter().zip(classes).map(packet).collect()
}

/// The disciplines that do the same on a link and in a network.
fn alike() -> Vec<Kind> {
    // FQ-CoDel hashes flows by its draw. Under DualPI2 the packets that replace a dropped and a
    // sent packet come at one instant, in either order.
    let differs = |kind: &Kind| matches!(kind, Kind::FqCodel | Kind::DualPi2 | Kind::Cake);
    kinds::any().into_iter().filter(|kind| !differs(kind)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Packet by packet, whatever feeds it: what is backlogged is replaced, tried again and left
    /// out at the same instants.
    #[test]
    fn one_link_is_one_link(
        seed: u64,
        kind in prop::sample::select(alike()),
        queue in prop::sample::select(vec![
            "", ", queue = { kind = \"droptail\", limit = 9 }", ", queue = { kind = \"codel\", limit = 200 }",
        ]),
        feedings in [feeding(), feeding(), feeding()],
        drawn in prop::collection::vec((1..20_000_000u64, 0..5u32, 40..1_000u32), 1..300),
    ) {
        let classes = ['a', 'b', 'c'];
        let fed = || classes.into_iter().zip(feedings);
        let of_recording: Vec<_> = fed()
            .filter(|(_, feeding)| matches!(feeding, Feeding::Recording))
            .map(|(class, _)| class)
            .collect();
        let recorded = Recorded::new(&packets(&of_recording, &drawn));
        let text = |network: &str, path: &str| {
            // One recording has the packets of all classes that are recorded.
            let once = fed().filter(|(class, _)| !of_recording.iter().skip(1).any(|of| of == class));
            let sources: Vec<_> =
                once.map(|(class, feeding)| source(class, feeding, &recorded) + path + "\n").collect();
            format!(
                "link = {{ rate = \"1mbit\", max-packet = \"1000b\" }}\n{network}\n\
                 scheduler = {{ kind = \"{}\"{queue} }}\n\
                 class.a = {{ deadline = \"20ms\", arrival = {{ bucket = \"2kB\", rate = \"500kbit\" }} }}\n\
                 class.b = {{ weight = 2, queue = {{ kind = \"droptail\", limit = 20 }} }}\nclass.c.weight = 0.5\n{}",
                kind.word(),
                sources.concat(),
            )
        };
        let network = plan(&text("network.only.between = [\"x\", \"y\"]", "path = [\"x\", \"y\"]"));
        let (mut ours, mut theirs) = (Fates::default(), Fates::default());
        let on = network.network_plan().unwrap().analysis();
        let run = NetworkRun::new(&on, Some(Nanos(100_000 * MS)), seed);
        let of_network = run.simulate(&mut ours, &mut crate::to_the_end).unwrap();
        let single = plan(&text("", ""));
        let run = Run { plan: &single, duration: None, seed, feeds: Vec::new() };
        let of_link = run.with_sources().unwrap().simulate(&mut theirs, &mut crate::to_the_end).unwrap();
        // What of several things that happen at one instant is first, is drawn in a network, and
        // counts where a queue is full then.
        prop_assume!(of_network.summary.ends().ties_at_full_queues == 0);
        prop_assert_eq!(ours, theirs);
        prop_assert_eq!(of_network.remarks, of_link.remarks);
        let carried = of_link.summary.hops[0].classes.iter().filter(|class| class.arrived > 0);
        for (ours, theirs) in of_network.summary.hops[0].classes.iter().zip(carried) {
            prop_assert_eq!(
                (ours.arrived, ours.sent, &ours.dropped, ours.bytes_sent, ours.deadline_misses),
                (theirs.arrived, theirs.sent, &theirs.dropped, theirs.bytes_sent, theirs.deadline_misses)
            );
            prop_assert_eq!(ours.delay_ns, theirs.delay_ns);
        }
    }
}
