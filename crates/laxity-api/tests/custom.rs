//! Schedulers that a program brings, at outputs of networks.

use std::path::Path;

use laxity::sched::Fifo;
use laxity_answers::reason::Finding;
use laxity_api::{
    CheckResult, Custom, Plan, RunResult, Traffic, check, run, run_custom, to_the_end, with_custom,
};

const TWO_HOPS: &str = r#"
    version = 1
    link = { rate = "10mbit", max-packet = "1500b" }
    scheduler.kind = "edf"
    run.duration = "2s"
    class.voice = { deadline = "5ms", end-to-end = "12ms", arrival = { bucket = "400b", rate = "50kB/s" } }
    class.bulk = { arrival = { bucket = "20kB", rate = "1MB/s" } }
    network.first.between = ["a", "b"]
    network.second = { between = ["b", "c"], scheduler.kind = "drr" }
    [[source]]
    class = "voice"
    model = "poisson"
    rate = "40kB/s"
    packet = "200b"
    path = ["a", "b", "c"]
    [[source]]
    class = "bulk"
    model = "poisson"
    rate = "900kB/s"
    packet = "1500b"
    path = ["a", "b", "c"]
"#;

fn plan(text: &str) -> Plan {
    Plan::parse(text, "plan.toml", Path::new("")).unwrap()
}

fn fifo(at: Option<&str>) -> Custom {
    let at = at.map(str::to_owned);
    Custom { name: "own".to_owned(), at, scheduler: Box::new(Fifo::new()) }
}

fn custom<'a>(plan: &'a Plan, schedulers: Vec<Custom>, seed: u64) -> Result<RunResult<'a>, String> {
    let traffic = Traffic { seed: Some(seed), ..Traffic::default() };
    run_custom(None, plan, schedulers, &traffic, &mut Watch, &mut to_the_end)
        .map_err(|error| error.to_string())
}

/// Who listens has every packet simulated at its time.
struct Watch;

impl laxity_sim::record::Observer for Watch {
    fn record(&mut self, _: &laxity_sim::record::Record) {}
}

#[test]
fn an_own_scheduler_at_an_output_does_what_the_same_discipline_does_there() {
    let left = with_custom(plan(TWO_HOPS), &["b → c".to_owned()]).unwrap();
    let as_fifo = plan(&TWO_HOPS.replace("\"drr\"", "\"fifo\""));
    for seed in 1..=5 {
        let own = custom(&left, vec![fifo(Some("b → c"))], seed).unwrap().judged.summary;
        let traffic = Traffic { seed: Some(seed), ..Traffic::default() };
        let theirs = run(&as_fifo, &traffic, &mut Watch, &mut to_the_end).unwrap().judged.summary;
        assert_eq!(own.scheduler, "edf/exact, own at b → c");
        let names = own.hops.iter().map(|hop| (hop.from.as_str(), hop.scheduler.as_str()));
        assert_eq!(names.collect::<Vec<_>>(), [("a", "edf/exact"), ("b", "own")]);
        for (own, theirs) in own.classes().iter().zip(theirs.classes()) {
            assert!(own.1.delay.is_some(), "packets arrived");
            assert_eq!(own.1.delay, theirs.1.delay, "seed {seed}");
        }
        for (own, theirs) in own.hops.iter().zip(&theirs.hops) {
            for (own, theirs) in own.classes.iter().zip(&theirs.classes) {
                assert_eq!((own.sent, &own.delay_ns), (theirs.sent, &theirs.delay_ns));
            }
        }
    }
}

#[test]
fn nothing_is_proved_where_a_program_schedules() {
    let proved = plan(TWO_HOPS);
    assert_eq!(check(&proved).unwrap().admitted(), Some(true));
    let left = with_custom(proved, &["b → c".to_owned()]).unwrap();
    let checked = check(&left).unwrap();
    let CheckResult::Network(proof) = &checked else { panic!("a network") };
    assert_ne!(checked.admitted(), Some(true));
    assert!(proof.reasons.iter().any(|reason| matches!(reason.finding, Finding::Unbounded { .. })));
    let result = custom(&left, vec![fifo(Some("b → c"))], 1).unwrap();
    let network = result.judged.summary.network.unwrap();
    assert!(network.classes.iter().all(|class| class.bound_ns.is_none()));
    let [first, second] = &result.judged.summary.hops[..] else { panic!("two hops") };
    assert!(first.classes.iter().any(|class| class.bound_ns.is_some()));
    assert!(second.classes.iter().all(|class| class.bound_ns.is_none()));
}

#[test]
fn own_schedulers_are_where_they_can_be() {
    let refused = |text: &str, output: &str| {
        with_custom(plan(text), &[output.to_owned()]).unwrap_err().to_string()
    };
    let unknown = refused(TWO_HOPS, "a → c");
    assert_eq!(
        unknown,
        "the plan has no output `a → c`; accepted: `a → b`, `b → a`, `b → c`, `c → b`"
    );
    let private = TWO_HOPS.replace("scheduler.kind = \"drr\"", "private = true");
    assert!(refused(&private, "b → c").contains("every flow has such a link of its own"));
    let link = "version = 1\nlink.rate = \"1mbit\"\nscheduler.kind = \"fifo\"\nclass.a = {}\n\
        source = [{ class = \"a\", model = \"poisson\", rate = \"1kB/s\", packet = \"100b\" }]";
    assert!(refused(link, "a → b").contains("one link"));
    let left = with_custom(plan(TWO_HOPS), &["b → c".to_owned()]).unwrap();
    let alone = run(&left, &Traffic::default(), &mut Watch, &mut to_the_end).err().unwrap();
    assert!(alone.to_string().contains("`b → c` is left to a scheduler of one's own"));
    let refused = |plan, schedulers| custom(plan, schedulers, 1).err().unwrap();
    assert!(refused(&left, vec![]).contains("needs one"));
    assert!(refused(&left, vec![fifo(Some("a → b"))]).contains("needs one"));
    assert!(refused(&left, vec![fifo(None)]).contains("own is to be at an output"));
    let link = plan(link);
    assert!(refused(&link, vec![]).contains("one scheduler"));
    assert!(refused(&link, vec![fifo(Some("a → b"))]).contains("without an output"));
    assert!(custom(&link, vec![fifo(None)], 1).is_ok());
}
