//! 500 streams of audio by the server in C, over a sink that carries 85 % of them: first in, first
//! out, beside DWCS, counted by the receivers in C. It takes Linux, `ffmpeg` and `cc`.

mod stage;

use stage::{Outcome, Show, Stage, plan};

const SEEDS: u64 = 3;
const ORDERS: [(&str, &str, &[&str]); 3] = [
    ("fifo", "dwcs.toml", &["--under", "fifo"]),
    ("fifo, queue of 40 ms", "fifo.toml", &[]),
    ("dwcs", "dwcs.toml", &[]),
];

fn main() -> Outcome<()> {
    let folder = std::env::temp_dir().join(format!("laxity-rtp-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let compared = compare(&folder);
    std::fs::remove_dir_all(&folder)?;
    compared
}

fn compare(folder: &std::path::Path) -> Outcome<()> {
    let library = std::env::current_exe()?.with_file_name("../deps/liblaxity_c.a");
    let stage = Stage::new(folder, &library, &[])?;
    stage.record_audio()?;
    println!("| order | seed | in time | late | lost | windows | violated | of streams |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for (order, plan_name, more) in ORDERS {
        for seed in 0..SEEDS {
            let (seed, path) = (seed.to_string(), plan(plan_name));
            let asked = ["--audio", "audio.opus", "--seconds", "10", "--seed", &seed];
            // What the machine's other threads cost the sink is made up for within a gap.
            let server = [&asked[..], &["--catch-up", "40", "--plan", &path], more].concat();
            let (port, receivers) = (20_000, 500);
            let show =
                Show { server: &server, port, counted_from: port, receivers, counted: receivers };
            let [audio, _] = stage.run(&show)?;
            println!(
                "| {order} | {seed} | {:.1} % | {:.1} % | {:.1} % | {} | {} | {} |",
                audio.share(audio.in_time),
                audio.share(audio.late),
                audio.share(audio.lost),
                audio.windows,
                audio.violated,
                audio.streams_violated
            );
        }
    }
    Ok(())
}

impl stage::Counted {
    /// Of all packets, in percent.
    fn share(&self, packets: u64) -> f64 {
        100.0 * packets as f64 / (self.in_time + self.late + self.lost) as f64
    }
}
