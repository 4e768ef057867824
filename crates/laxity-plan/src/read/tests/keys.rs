//! Keys of classes that mean something to some disciplines: taken by these, and refused elsewhere.

use crate::Plan;
use crate::discipline::Kind;
use crate::error::PlanError;

/// Every key that not all disciplines know, with a value, and what else it needs of its class.
const KEYS: [(&str, &str, &str); 11] = [
    ("parent", "'above'", ""),
    ("weight", "2", ""),
    ("curve", "'1mbit'", ""),
    ("real-time", "'1mbit'", ""),
    ("link-share", "'1mbit'", ""),
    ("upper-limit", "'1mbit'", "curve = '1mbit'\n"),
    ("level", "0", ""),
    ("dscp", "'ef'", ""),
    ("gap", "'20ms'", ""),
    ("frame-at", "{}", "gap = '20ms'\n"),
    ("late", "'drop'", "deadline = '20ms'\narrival = { bucket = '3kB', rate = '1mbit' }\n"),
];

/// What a plan of a kind needs besides.
fn settings(kind: Kind) -> &'static str {
    if kind.room().is_of_networks {
        "frame = '1ms'\nframes = 4\n[network]\none.between = ['a', 'b']\n"
    } else {
        ""
    }
}

fn text(kind: Kind, class: &str) -> String {
    let (word, settings) = (kind.word(), settings(kind));
    format!(
        "version = 1\nlink.rate = '10mbit'\n[scheduler]\nkind = '{word}'\n{settings}[class.above]\n\
         [class.a]\n{class}\n[class.b]\n"
    )
}

fn read_for(text: &str, others: &[Kind]) -> Result<Plan, PlanError> {
    Plan::parse_for(text, "plan.toml", ".".as_ref(), others)
}

#[test]
fn a_key_is_taken_by_the_disciplines_that_know_it_and_refused_by_others() {
    let all: Vec<_> = Kind::ALL.iter().flat_map(|kind| kind.room().keys_of_classes()).collect();
    assert!(all.iter().all(|key| KEYS.iter().any(|(known, ..)| known == key)), "{all:?}");
    for (key, value, needs) in KEYS {
        assert!(all.contains(&key), "{key} is for nobody");
        for kind in Kind::ALL {
            let takes = kind.room().takes_of_classes(key);
            let class = format!("{needs}{key} = {value}");
            // What the key needs may mean nothing there either.
            let needs = needs.split(" = ").next().unwrap_or_default();
            let takes_needs =
                needs.is_empty() || needs == "deadline" || kind.room().takes_of_classes(needs);
            if !takes_needs {
                continue;
            }
            let (text, word) = (text(*kind, &class), kind.word());
            match read_for(&text, &[]) {
                Ok(_) => assert!(takes, "`{key}` under {word}"),
                Err(error) => {
                    assert!(!takes, "`{key}` under {word}: {error:?}");
                    assert_eq!(error.message(), format!("`{key}` means nothing under `{word}`"));
                    let help = error.help().unwrap_or_default();
                    let owners = Kind::ALL.iter().filter(|kind| kind.room().takes_of_classes(key));
                    for owner in owners {
                        assert!(help.contains(&format!("`{}`", owner.word())), "{help}");
                    }
                    let line = text.lines().position(|line| line.starts_with(&format!("{key} = ")));
                    assert_eq!(error.line_column().map(|(line, _)| line), line.map(|at| at + 1));
                }
            }
        }
    }
}

#[test]
fn what_is_known_instead_is_said() {
    let owners = |key: &str| {
        let owners = Kind::ALL.iter().filter(|kind| kind.room().takes_of_classes(key));
        owners.map(|kind| format!("`{}`", kind.word())).collect::<Vec<_>>().join(", ")
    };
    let error = read_for(&text(Kind::Dwcs, "level = 1"), &[]).unwrap_err();
    let help =
        format!("it is for {}; classes under `dwcs` may have `gap`, `late`", owners("level"));
    assert_eq!(error.help(), Some(&*help));
    let error = read_for(&text(Kind::Fifo, "gap = '1ms'"), &[]).unwrap_err();
    let help = format!(
        "it is for {}, and for classes with `loss`; classes under `fifo` have no such keys",
        owners("gap")
    );
    assert_eq!(error.help(), Some(&*help));
}

/// Windows are watched under every discipline.
#[test]
fn with_loss_a_gap_means_something_everywhere() {
    for kind in Kind::ALL.iter().filter(|kind| !kind.room().is_of_networks) {
        let text = text(*kind, "count = 3\ngap = '20ms'\nloss = '1/10'");
        assert!(read_for(&text, &[]).is_ok(), "{}", kind.word());
    }
}

#[test]
fn a_plan_for_several_disciplines_has_keys_of_each() {
    let text = text(Kind::Priority, "level = 1\nweight = 3");
    assert!(read_for(&text, &[]).unwrap_err().message().contains("`weight`"));
    assert!(
        read_for(&text, &[Kind::Fifo]).unwrap_err().message().contains("under `priority`, `fifo`")
    );
    let plan = read_for(&text, &[Kind::Drr]).unwrap();
    assert_eq!(plan.under("drr").unwrap().drr_quanta()[1], 3 * 1514);
}

/// Those of each link's discipline, and those of the scheduler in which a class waits.
#[test]
fn a_class_is_served_by_each_output_and_by_what_a_class_above_holds() {
    let network = "version = 1\nlink.rate = '10mbit'\nscheduler.kind = 'fifo'\nclass.a.level = 1\n\
                   network.one = { between = ['x', 'y'], scheduler.kind = 'KIND' }\n\
                   network.two.between = ['y', 'z']\n";
    assert!(read_for(&network.replace("KIND", "priority"), &[]).is_ok());
    let error = read_for(&network.replace("KIND", "drr"), &[]).unwrap_err();
    assert_eq!(error.message(), "`level` means nothing under `fifo`, `drr`");
    let node = network.replace("KIND", "drr") + "node.y.scheduler.kind = 'priority'\n";
    assert!(read_for(&node, &[]).is_ok());

    let nested = "version = 1\nlink.rate = '10mbit'\nscheduler.kind = 'wf2q'\n\
                  class.share = { weight = 2, scheduler.kind = 'KIND' }\n\
                  class.a = { parent = 'share', level = 1 }\nclass.b = { parent = 'share' }\n";
    assert!(read_for(&nested.replace("KIND", "priority"), &[]).is_ok());
    let error = read_for(&nested.replace("KIND", "edf"), &[]).unwrap_err();
    assert_eq!(error.message(), "`level` means nothing under `edf`");
    // The share itself is one of the link.
    let share = nested.replace("KIND", "hfsc").replace("level = 1", "curve = '1mbit'");
    assert!(read_for(&share, &[]).is_ok());
    let share = share.replace("weight = 2", "link-share = '2mbit', upper-limit = '3mbit'");
    let error = read_for(&share, &[]).unwrap_err();
    assert_eq!(error.message(), "`upper-limit` means nothing under `wf2q`");
}

/// The guide's table of keys and disciplines.
#[test]
fn the_guide_says_to_whom_keys_mean_something() {
    let guide = include_str!("../../../../../docs/plan.md");
    let table = guide.split("| keys | disciplines |").nth(1).expect("the table");
    for (key, ..) in KEYS {
        let is_of_key = |line: &&str| {
            line.split('|').nth(1).is_some_and(|keys| keys.contains(&format!("`{key}`")))
        };
        let row = table.lines().find(is_of_key).unwrap_or_else(|| panic!("{key} is in no row"));
        for kind in Kind::ALL {
            let is_said = row.contains(&format!("`{}`", kind.word()));
            assert_eq!(is_said, kind.room().takes_of_classes(key), "{key}, {}", kind.word());
        }
    }
}
