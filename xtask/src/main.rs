//! The workspace's own tools: what is tested before a change is accepted, and how.

mod comments;
mod deb;
#[cfg(test)]
mod documents;
mod engine;
mod fuzz;
mod guided;
mod kernel;
mod licences;
mod lint;
mod no_std;
mod outcome;
mod package;
mod peers;
mod python;
mod release;
mod search;
mod soak;
mod steps;
mod suite;
mod wasm;
mod web;
mod wheel;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use outcome::Status;
use steps::Step;
use workspace::Workspace;

/// Tests Laxity.
#[derive(Parser)]
#[command(name = "xtask", bin_name = "cargo xtask", max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// What a change must pass: form, all tests, and of what takes long a sample.
    Test(Test),
    /// Format, clippy and documentation, warnings being errors.
    Lint,
    /// Every dependency's licence is one that we accept.
    Licences,
    /// The crate `laxity` needs no standard library.
    NoStd,
    /// The crate `laxity` as crates.io would take it.
    Package,
    /// The playground into web/dist: the page is small and works in Chromium, and its proofs are
    /// the command's.
    ///
    /// Needs Node.js with npm, and a standard library for browsers; is skipped without.
    Web,
    /// The package for Python, and its tests, in an environment in target/python.
    Python,
    /// The wheel of the package for Python, into target/wheels: small, and right where nothing else
    /// is. Takes minutes.
    Wheel,
    /// The command as it is shipped, into target/dist: built, tried on what users do, and built
    /// again for that.
    ///
    /// A sixth faster than `cargo build --profile dist`, to the same results. Takes a quarter of an
    /// hour, and needs llvm-profdata (rustup component add llvm-tools), and root or user
    /// namespaces.
    Guided,
    /// The packages for Debian, of the command and of the library, into target/debian. Needs
    /// cargo-deb, and what `guided` needs.
    Deb,
    /// Feed every parser of outside bytes with what a fuzzer makes of its seeds.
    Fuzz(Fuzz),
    /// The same networks under ns-2, ns-3 and `laxity run`: what they measure, and what it costs.
    ///
    /// Needs ns-2 2.35, Debian's package ns2, or ns-3 3.37, libns3-dev and g++; is skipped without.
    /// With --speed, `laxity bench` and the kernel's disciplines under one load instead.
    Peers(Peers),
    /// Plans in a kernel of the tests' own, all of them: bounds, kills, ten thousand classes. Takes
    /// half an hour.
    ///
    /// Needs Debian's user-mode-linux, kmod and iproute2; is skipped without.
    Kernel,
    /// A live link at half load for long, with reloads and an interface that flaps.
    Soak(Soak),
    /// Plans at the edge of admission, and traffic that is searched for harm.
    ///
    /// What stands behind goes to `laxity-search`: --help says what it takes.
    #[command(disable_help_flag = true)]
    Search(Search),
}

#[derive(Args)]
struct Test {
    /// Everything that there is instead of samples, as before a release: a minute for every fuzz
    /// target, ten of search, all plans in a kernel, the wheel, and the command and the Debian
    /// package as they are shipped. Takes two hours.
    #[arg(long)]
    all: bool,
}

#[derive(Args)]
struct Fuzz {
    /// How long each target runs.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
}

#[derive(Args)]
struct Peers {
    /// How many seeds each network runs with.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(2..))]
    seeds: u32,
    /// Time ours beside the programs of this folder instead, in turns: b_null, b_drr, b_qfq,
    /// b_hfsc, b_etf and b_choke.
    #[arg(long, value_name = "FOLDER", conflicts_with = "seeds")]
    speed: Option<PathBuf>,
    /// How many turns.
    #[arg(long, value_name = "N", default_value_t = 7, requires = "speed", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

#[derive(Args)]
struct Soak {
    /// For how long.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=120))]
    minutes: u32,
}

#[derive(Args)]
struct Search {
    /// What `laxity-search` takes, such as --minutes 10.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// How long each fuzz target runs as a sample.
const FUZZ_SECONDS: u32 = 5;
/// How long as a whole.
const WHOLE_FUZZ_SECONDS: u32 = 60;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let workspace = match Workspace::find() {
        Ok(workspace) => workspace,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    steps::run(&workspace, arguments.command.steps())
}

impl Command {
    fn steps(self) -> Vec<Step> {
        match self {
            Command::Lint => lint::steps(),
            Command::Licences => vec![licences::step()],
            Command::NoStd => vec![no_std::step()],
            Command::Package => vec![package::step()],
            Command::Web => web::steps().into(),
            Command::Guided => vec![guided::step()],
            Command::Deb => vec![deb::step()],
            Command::Python => vec![python::step()],
            Command::Wheel => vec![wheel::step()],
            Command::Fuzz(Fuzz { seconds }) => vec![fuzz::step(seconds)],
            Command::Peers(Peers { speed: Some(folder), rounds, .. }) => {
                vec![peers::speed::step(folder, rounds)]
            }
            Command::Peers(Peers { seeds, .. }) => vec![peers::step(seeds)],
            Command::Kernel => vec![kernel::step()],
            Command::Soak(Soak { minutes }) => vec![soak::step(minutes)],
            Command::Search(Search { arguments }) => vec![search::step(arguments)],
            Command::Test(Test { all }) => {
                let mut steps = lint::steps();
                steps.push(licences::step());
                steps.push(no_std::step());
                steps.push(package::step());
                steps.push(suite::step());
                steps.push(examples());
                steps.extend(web::steps());
                steps.extend(release::steps());
                steps.extend(search::steps(if all { 10.0 } else { 0.75 }));
                steps.push(engine::step());
                steps.push(deb::check());
                steps.push(python::step());
                steps.push(fuzz::step(if all { WHOLE_FUZZ_SECONDS } else { FUZZ_SECONDS }));
                if all {
                    steps.extend([partitions(), kernel::step(), wheel::step(), deb::step()]);
                }
                steps
            }
        }
    }
}

/// Networks on several threads, all rounds of tests that are sampled for a change.
fn partitions() -> Step {
    Step::new("partitions", |workspace| {
        let mut test = workspace.cargo();
        test.args(["test", "--release", "--package", "laxity-sim", "--lib", "network::parallel"]);
        workspace.run(test.env("LAXITY_WHOLE", "1"))
    })
}

/// What shows how a library is used does what it says, with what the tests have built.
fn examples() -> Step {
    Step::new("examples", |workspace| {
        // It has tests, so that its tests are what was built.
        let server = ["build", "--workspace", "--example", "rtp_server"];
        workspace.run(workspace.cargo().args(server))?;
        for example in ["uplink", "plan", "two_threads", "rtp_server --seconds 1"] {
            let mut words = example.split(' ');
            let name = words.next().unwrap_or_default();
            let built = release::executable(workspace.target().join("debug/examples").join(name));
            workspace.run(workspace.program(built).args(words))?;
        }
        Ok(Status::Passed)
    })
}
