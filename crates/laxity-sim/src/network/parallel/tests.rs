//! Parts together do what one thread does.

use std::path::Path;

use laxity::packet::Packet;
use laxity_plan::Plan;
use laxity_plan::discipline::Kind;
use rand::RngExt;
use rand::seq::IndexedRandom;

use super::*;
use crate::network::ids::PartId;
use crate::network::layout::partition::Here;
use crate::network::layout::partition::partitions_of;
use crate::network::simulation::Simulation;
use crate::network::tests::kinds;
use crate::source::random::{Generator, generator};

/// Everything that is observed, in order.
#[derive(Debug, Default, PartialEq)]
struct Diary(Vec<String>);

impl Observer for Diary {
    fn record(&mut self, record: &Record) {
        let packet = Packet { handle: 0, ..record.packet };
        self.0.push(format!("{:?}", Record { packet, ..*record }));
    }

    fn delivered(&mut self, packet: &Packet, bytes: u64, now: Nanos) {
        let packet = Packet { handle: 0, ..*packet };
        self.0.push(format!("{packet:?} {bytes} {now:?}"));
    }
}

/// A network in which much happens at one instant: equal links, constant sources, delays that are
/// multiples.
fn network(draw: &mut Generator) -> String {
    let nodes = draw.random_range(3..9);
    let regulated = draw.random::<bool>();
    let mut links = String::new();
    let mut link = |draw: &mut Generator, from: u32, to: u32| {
        let any = kinds::any();
        let kind = if draw.random() { Kind::Fifo } else { *any.choose(draw).unwrap() }.word();
        let queue = [
            "",
            ", queue = { kind = \"droptail\", limit = 8 }",
            ", queue = { kind = \"red\", min = 4, max = 12, limit = 20 }",
        ];
        let queue = queue.choose(draw).unwrap();
        let rate = [1, 2, 8].choose(draw).unwrap();
        let delay = ["0s", "1ms", "1ms", "2ms", "3333us"].choose(draw).unwrap();
        let loss = ["", "", "loss = { share = 0.02 }\n"].choose(draw).unwrap();
        let wires = [
            "",
            "",
            "",
            "jitter = { exponential = \"2ms\" }\n",
            "reorder = { share = 0.1, by = { uniform = [\"0s\", \"4ms\"] } }\n",
            "duplicate = { share = 0.05 }\n",
            "jitter = \"1ms\"\nreorder = { share = 1, by = \"1ms\" }\nduplicate = { share = 0.5 }\n",
        ];
        // Where packets are held they come in order, and once.
        let wire = wires[..if regulated { 4 } else { wires.len() }].choose(draw).unwrap();
        let regulate = if regulated && draw.random() { "regulate = true\n" } else { "" };
        let loss = [*loss, *wire, regulate].concat();
        let private = ["", "", "private = true\n"].choose(draw).unwrap();
        links += &format!(
            "[network.l{from}x{to}]\nbetween = [\"n{from}\", \"n{to}\"]\nrate = \"{rate}mbit\"\n\
             delay = \"{delay}\"\nscheduler = {{ kind = \"{kind}\"{queue} }}\n{loss}{private}"
        );
    };
    for node in 1..nodes {
        let to = draw.random_range(0..node);
        link(draw, node, to);
    }
    let mut sources = String::new();
    for _ in 0..draw.random_range(2..7) {
        let from = draw.random_range(0..nodes);
        let to = (from + draw.random_range(1..nodes)) % nodes;
        let count = draw.random_range(1..4);
        let class = ["a", "b", "c"].choose(draw).unwrap();
        let model = [
            "model = \"constant\"\nrate = \"400kbit\"",
            "model = \"poisson\"\nrate = \"300kbit\"\nstop = \"1s\"",
            "model = \"backlogged\"\nwindow = 3",
            "model = \"tcp\"",
            "model = \"tcp\"\ntransfer = \"20kB\"\njitter = \"0s\"",
            "model = \"tcp\"\ncongestion = \"bbr\"\ntransfer = { exponential = \"30kB\" }\nevery = { exponential = \"100ms\" }",
        ];
        let model = *model.choose(draw).unwrap();
        // Packets dropped for their contract would never be replaced.
        let class = if model.contains("backlogged") { "c" } else { class };
        sources += &format!(
            "[[source]]\nclass = \"{class}\"\n{model}\npacket = \"1000b\"\ncount = {count}\n\
             path = \"shortest\"\nfrom = \"n{from}\"\nto = \"n{to}\"\n"
        );
    }
    format!(
        "version = 1\n[run]\nwarm-up = \"100ms\"\n[link]\nrate = \"4mbit\"\nmax-packet = \"1500b\"\n\
         [scheduler]\nkind = \"fifo\"\n\
         [class.a]\ndeadline = \"20ms\"\narrival = {{ bucket = \"4kB\", rate = \"300kbit\" }}\npolice = \"drop\"\n\
         [class.b]\nweight = 2\n[class.c]\nqueue = {{ kind = \"droptail\", limit = 6 }}\n{links}{sources}"
    )
}

/// The number of parts of the finest partition, after all have agreed with one thread.
fn agree(text: &str, seed: u64, threads: u32, duration: Option<Nanos>) -> u32 {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let plan = Plan::parse_for(text, "plan.toml", &folder, Kind::ALL);
    let plan = plan.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let on = plan.network_plan().unwrap().analysis();
    let run = NetworkRun::new(&on, duration, seed);
    let mut serial = Diary::default();
    let expected = run.simulate(&mut serial, &mut crate::to_the_end).unwrap();
    let silent = run.simulate(&mut (), &mut crate::to_the_end).unwrap();
    let said = |outcome: &Outcome| format!("{:?}", outcome.summary);
    assert_eq!(said(&expected), said(&silent), "whether anybody listens\n{text}");
    let mut diary = Diary::default();
    let (outcome, profile) = run.profile(&mut diary, &mut crate::to_the_end).unwrap();
    assert_eq!(said(&outcome), said(&expected), "whether time is taken\n{text}");
    assert!(diary == serial, "whether time is taken\n{text}");
    assert_eq!(profile.told.count, diary.0.len() as u64, "{text}");
    assert_eq!(profile.spent.iter().map(|spent| spent.timing.count).sum::<u64>(), profile.events);
    let partitions = partitions_of(&on, NonZeroU32::new(threads).unwrap());
    for partition in partitions.iter().chain([&Partition::whole(&on)]) {
        for region in 1..4 {
            let mut partition = partition.clone();
            (partition.region, partition.large) = (region, 0);
            let pace = if region == 1 { Pace::default() } else { Pace::with_help() };
            let (outcome, _) =
                run.simulate_in_parts(&partition, pace, &mut (), &mut crate::to_the_end).unwrap();
            assert_eq!(said(&outcome), said(&expected), "{partition:?}\n{text}");
        }
    }
    for partition in &partitions {
        let mut diary = Diary::default();
        let (outcome, _) = run
            .simulate_in_parts(partition, Pace::with_help(), &mut diary, &mut crate::to_the_end)
            .unwrap();
        assert_eq!(said(&outcome), said(&expected), "{partition:?}\n{text}");
        let differ = diary.0.iter().zip(&serial.0).find(|(ours, theirs)| ours != theirs);
        assert_eq!(differ, None, "{partition:?}\n{text}");
        assert_eq!(diary.0.len(), serial.0.len(), "{partition:?}\n{text}");
        let (outcome, _) = run
            .simulate_in_parts(partition, Pace::with_help(), &mut (), &mut crate::to_the_end)
            .unwrap();
        assert_eq!(said(&outcome), said(&expected), "{partition:?}\n{text}");
    }
    partitions.iter().map(|partition| partition.parts).max().unwrap_or(1)
}

/// The number of rounds: `sample`, or `all` where LAXITY_WHOLE is set.
fn rounds(sample: u64, all: u64) -> u64 {
    if std::env::var_os("LAXITY_WHOLE").is_some() { all } else { sample }
}

#[test]
fn parts_do_what_one_thread_does() {
    let mut parts = [0; 9];
    let networks = rounds(40, 200);
    for seed in 0..networks {
        let mut draw = generator(seed, 0, 0);
        let (text, threads) = (network(&mut draw), draw.random_range(2..=8));
        parts[agree(&text, seed, threads, Some(Nanos(700_000_000))) as usize] += 1;
    }
    let several = parts[3..].iter().sum::<u64>();
    assert!(parts[1] * 10 < networks && several * 2 > networks, "{parts:?}");
}

/// Most of the networks above have regions that take turns, if so few outputs make one.
#[test]
fn networks_have_regions() {
    let mut counts = [0; 30];
    for seed in 0..200 {
        let text = network(&mut generator(seed, 0, 0));
        let plan = Plan::parse_for(&text, "plan.toml", Path::new(""), Kind::ALL).unwrap();
        let on = plan.network_plan().unwrap().analysis();
        let duration = Some(Nanos(1_000_000));
        let run = NetworkRun::new(&on, duration, seed);
        let mut partition = Partition::whole(&on);
        (partition.region, partition.large) = (1, 0);
        let here = Here { partition: &partition, part: PartId(0), is_observed: false };
        counts[Simulation::new(run, here, Default::default(), &mut ())
            .unwrap()
            .plane
            .agenda
            .regions()] += 1;
    }
    assert!(counts[1] < 30 && counts[3..].iter().sum::<u32>() > 100, "{counts:?}");
}

/// Frames and padding, nodes with wrong clocks, and topologies from files.
#[test]
fn parts_of_examples_do_what_one_thread_does() {
    let examples = [
        include_str!("../../../../../examples/time-frames.toml"),
        include_str!("../../../../../examples/dumbbell.toml"),
        include_str!("../../../../../examples/backbone.toml"),
    ];
    for text in examples {
        assert!(agree(text, 3, 4, Some(Nanos(60_000_000))) > 1, "{text}");
    }
}

/// With enough timers for an agenda of buckets.
#[test]
fn parts_of_large_networks_do_what_one_thread_does() {
    for seed in 0..3 {
        let mut draw = generator(seed, 1, 0);
        let nodes: u32 = 40;
        let mut text = String::from(
            "version = 1\n[link]\nrate = \"40mbit\"\nmax-packet = \"1500b\"\n[scheduler]\nkind = \"fifo\"\n\
             [class.a]\nqueue = { kind = \"droptail\", limit = 30 }\n",
        );
        for node in 1..nodes {
            let to = draw.random_range(0..node);
            let delay = draw.random_range(500..3000);
            text += &format!(
                "[network.l{node}]\nbetween = [\"n{node}\", \"n{to}\"]\ndelay = \"{delay}us\"\n"
            );
        }
        for _ in 0..40 {
            let from = draw.random_range(0..nodes);
            let to = (from + draw.random_range(1..nodes)) % nodes;
            text += &format!(
                "[[source]]\nclass = \"a\"\nmodel = \"tcp\"\npacket = \"1000b\"\ncount = 50\n\
                 path = \"shortest\"\nfrom = \"n{from}\"\nto = \"n{to}\"\n"
            );
        }
        assert!(agree(&text, seed, 4, Some(Nanos(150_000_000))) > 1);
    }
}

/// Hosts with links of their own answer before their time, and those of whom somebody hears do not.
#[test]
fn parts_of_dumbbells_do_what_one_thread_does() {
    let dumbbell = r#"
        version = 1
        run.warm-up = "70ms"
        link = { rate = "20mbit", delay = "ACCESS", max-packet = "1000b" }
        scheduler.kind = "fifo"
        class.a = {}
        class.b = { arrival = { bucket = "9kB", rate = "2mbit" }, police = "demote" }
        network.access = { between = ["s", "r"], private = true LOSS }
        network.neck = { between = ["r", "t"], rate = "4mbit", delay = "NECK", scheduler = { kind = "fifo" QUEUE } WIRE }
        network.exit = { between = ["t", "d"], private = true, delay = "EXIT" }
        source = [
            { class = "CLASS", model = "tcp", packet = "1000b", count = COUNT, path = PATH MORE },
            { class = "a", model = "tcp", packet = "700b", path = ["d", "t", "r", "s"] },
        ]
    "#;
    let delays = ["0s", "1ms", "1ms", "1777us", "7ms"];
    let drawn: [(&str, &[&str]); 10] = [
        ("ACCESS", &delays),
        ("NECK", &delays),
        ("EXIT", &delays),
        (
            "LOSS",
            &[
                "",
                "",
                ", loss = { share = 0.02 }",
                ", jitter = \"1ms\"",
                ", duplicate = { share = 0.1 }",
                r#", reorder = { share = 0.2, by = "5ms" }"#,
            ],
        ),
        ("WIRE", &["", "", r#", reorder = { share = 0.2, by = "5ms" }"#]),
        (
            "QUEUE",
            &[
                "",
                r#", queue = { kind = "droptail", limit = 9 }"#,
                r#", queue = { kind = "red", min = 3, max = 9, limit = 20 }"#,
            ],
        ),
        ("CLASS", &["a", "a", "a", "b"]),
        ("COUNT", &["1", "3", "20"]),
        (
            "PATH",
            &[
                r#"["s", "r", "t", "d"]"#,
                r#"["s", "r", "t", "d"]"#,
                r#"["s", "r", "s"]"#,
                r#"["s", "r", "s", "r", "t"]"#,
                r#"["r", "s", "r", "t", "d", "t"]"#,
            ],
        ),
        (
            "MORE",
            &[
                "",
                r#", delayed-acks = false, jitter = "0s""#,
                r#", loss-detection = "rack-tlp", pacing = true"#,
                r#", congestion = "bbr", jitter = "0s""#,
                r#", transfer = "20kB", pause = "3ms""#,
                r#", transfer = { exponential = "30kB" }, every = { exponential = "100ms" }, jitter = "0s""#,
            ],
        ),
    ];
    let mut divided = 0;
    let networks = rounds(30, 100);
    for seed in 0..networks {
        let mut draw = generator(seed, 2, 0);
        let mut text = dumbbell.to_owned();
        for (name, values) in drawn {
            text = text.replace(name, values.choose(&mut draw).unwrap());
        }
        let duration = draw.random_range(1..700_000_000);
        let parts = agree(&text, seed, draw.random_range(2..=4), Some(Nanos(duration)));
        divided += u64::from(parts > 1);
    }
    assert!(divided * 10 > networks * 6, "{divided}");
}

/// What comes to a full queue leaves behind it: 25 packets wait for 8 ms each before a link of 1
/// ms.
#[test]
fn windows_are_longer_behind_a_queue() {
    let text = r#"
        version = 1
        link = { rate = "100mbit", max-packet = "1000b" }
        scheduler.kind = "fifo"
        class.a.queue = { kind = "droptail", limit = 25 }
        network.x.between = ["n", "m"]
        network.y = { between = ["m", "o"], rate = "1mbit", delay = "1ms" }
        source = [{ class = "a", model = "tcp", packet = "1000b", count = 20, path = ["n", "m", "o"] }]
    "#;
    let plan = Plan::parse(text, "plan.toml", Path::new("")).unwrap();
    let on = plan.network_plan().unwrap().analysis();
    let partitions = partitions_of(&on, NonZeroU32::new(2).unwrap());
    let [partition] = &partitions[..] else { panic!("{partitions:?}") };
    assert_eq!((partition.parts, partition.lookahead), (2, Nanos(1_000_000)));
    for seed in 1..4 {
        let duration = Some(Nanos(10_000_000_000));
        let run = NetworkRun::new(&on, duration, seed);
        let end = &mut crate::to_the_end;
        let (_, silent) =
            run.simulate_in_parts(partition, Pace::with_help(), &mut (), end).unwrap();
        let (_, told) = run
            .simulate_in_parts(partition, Pace::with_help(), &mut Diary::default(), end)
            .unwrap();
        assert!(silent.windows * 4 < told.windows, "{silent:?} {told:?}");
    }
}

/// A run that ends with its recordings.
#[test]
fn parts_end_when_all_has_come() {
    let name = format!("laxity-parts-{}.csv", std::process::id());
    let path = std::env::temp_dir().join(name);
    let rows: String = (0..500).map(|n| format!("{},a,0,{}\n", n * 777_777, 100 + n)).collect();
    std::fs::write(&path, format!("time_ns,class,flow,length\n{rows}")).unwrap();
    let text = format!(
        "version = 1\nlink = {{ rate = \"4mbit\", delay = \"1ms\", max-packet = \"1000b\" }}\n\
         scheduler.kind = \"fifo\"\nclass.a.queue = {{ kind = \"droptail\", limit = 9 }}\n\
         network.x.between = [\"n\", \"m\"]\nnetwork.y.between = [\"m\", \"o\"]\n\
         network.z = {{ between = [\"o\", \"p\"], rate = \"1mbit\" }}\n\
         source = [{{ model = \"csv\", file = '{}', path = [\"n\", \"m\", \"o\", \"p\"] }}]",
        path.display()
    );
    let most = agree(&text, 1, 4, None);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(most, 4);
}

/// The windows of streams at every hop, with one thread and with several.
#[test]
fn parts_watch_the_windows_of_their_hops() {
    let text = r#"
        version = 1
        link = { rate = "1mbit", delay = "1ms", max-packet = "500b" }
        scheduler.kind = "dwcs"
        class.a = { gap = "20ms", count = 3, loss = "1/20", queue = { kind = "droptail", limit = 9 } }
        class.b = { gap = "15ms", loss = "2/7" }
        network.x.between = ["n", "m"]
        network.y = { between = ["m", "o"], scheduler = { kind = "fifo" } }
        network.z.between = ["p", "m"]
        [[source]]
        class = "a"
        model = "poisson"
        packet = "500b"
        count = 3
        rate = "250kbit"
        path = ["n", "m", "o"]
        [[source]]
        class = "b"
        model = "poisson"
        packet = { uniform = ["60b", "500b"] }
        rate = "500kbit"
        path = ["p", "m", "o"]
    "#;
    for seed in 1..4 {
        assert!(agree(text, seed, 3, Some(Nanos(4_000_000_000))) > 1);
    }
}

/// More threads than cores would only take turns.
#[cfg(target_os = "linux")]
#[test]
fn one_core_has_one_thread() {
    use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
    use nix::unistd::Pid;

    let plan = include_str!("../../../../../xtask/src/peers/fast.toml");
    let plan = Plan::parse(plan, "plan.toml", Path::new("")).unwrap();
    let on = plan.network_plan().unwrap().analysis();
    let run = NetworkRun::new(&on, Some(Nanos(50_000_000)), 1);
    let (this, four) = (Pid::from_raw(0), NonZeroU32::new(4).unwrap());
    let cores = sched_getaffinity(this).unwrap();
    let mut one = CpuSet::new();
    one.set((0..).find(|core| cores.is_set(*core) == Ok(true)).unwrap()).unwrap();
    sched_setaffinity(this, &one).unwrap();
    let (outcome, how) = run.simulate_in_parallel(four, &mut (), &mut crate::to_the_end).unwrap();
    sched_setaffinity(this, &cores).unwrap();
    assert_eq!((how.threads, how.parts), (1, 1));
    let expected = run.simulate(&mut (), &mut crate::to_the_end).unwrap();
    assert_eq!(format!("{:?}", outcome.summary), format!("{:?}", expected.summary));
}
