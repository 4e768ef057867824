//! Plans of households: admitted, kept when they are run, or refused with what fits.

use laxity::units::Nanos;
use laxity_exchange::router::Urgency;
use proptest::prelude::*;

use super::*;
use crate::{Traffic, run, to_the_end};

fn household(
    link: &AccessLink,
    rate: u64,
    applications: &[Application],
    devices: u32,
) -> Household {
    Household {
        up: Side::new(link, Rate(rate), Direction::Up),
        down: Side::new(link, Rate(rate * 3), Direction::Down),
        applications: applications.to_vec(),
        devices,
        rules: Vec::new(),
        remarks: Vec::new(),
    }
}

fn some_household() -> impl Strategy<Value = Household> {
    let links: Vec<AccessLink> = AccessLink::all().collect();
    let applications = prop::sample::subsequence(Application::ALL.to_vec(), 0..=4);
    (prop::sample::select(links), 18u32..33, applications, 1u32..40).prop_map(
        |(link, rate, applications, devices)| household(&link, 1 << rate, &applications, devices),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// What is written is admitted, and a trial of it keeps its promises; or the link is too small,
    /// and what is said to fit does.
    #[test]
    fn plans_hold_or_are_refused_with_what_fits(household in some_household()) {
        match household.plan(Direction::Up) {
            Ok(plan) => {
                prop_assert_eq!(plan.checked.admitted(), Some(true));
                let duration = Some(Nanos(300_000_000));
                let traffic = Traffic { duration, ..Traffic::default() };
                let run = run(&plan.plan, &traffic, &mut (), &mut to_the_end).unwrap();
                prop_assert!(run.judged.verdict.kept, "{}", plan.text);
            }
            Err(HouseholdError::Misfit(misfit)) => {
                let fits = |household: Household| household.plan(Direction::Up).is_ok();
                if let Some(link) = misfit.needed {
                    let up = Side { link, ..household.up.clone() };
                    let faster = Household { up, ..household.clone() };
                    prop_assert!(fits(faster));
                }
                if let Some(devices) = misfit.fitting_devices {
                    let smaller = Household { devices, ..household.clone() };
                    prop_assert!(fits(smaller));
                }
                for one in misfit.fitting {
                    let alone = Household { applications: vec![one], ..household.clone() };
                    prop_assert!(fits(alone));
                }
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
    }
}

#[test]
fn packets_of_an_application_belong_to_its_class() {
    let link: AccessLink = "ethernet".parse().unwrap();
    let household = household(&link, 20_000_000, &Application::ALL, 4);
    let [up, down] = household.plans().unwrap();
    for plan in [&up, &down] {
        let names: Vec<&str> = plan.plan.classes.iter().map(|class| class.name.as_str()).collect();
        let expected =
            ["real-time", "calls", "games", "lookups", "work", "streaming", "background", "rest"];
        assert_eq!(names, expected);
    }
}

#[test]
fn a_rule_of_a_router_is_in_the_class_of_its_urgency() {
    let link: AccessLink = "ethernet".parse().unwrap();
    let mut household = household(&link, 20_000_000, &[Application::CALLS], 4);
    household.rules = vec![
        Rule { name: "phone".into(), matching: "addr 10.0.0.7".into(), urgency: Urgency::RealTime },
        Rule { name: "backup".into(), matching: "addr 10.0.0.8".into(), urgency: Urgency::Bulk },
    ];
    household.up.queues.settings.diffserv = Diffserv::Diffserv4;
    let plan = household.plan(Direction::Up).unwrap();
    let class = |name: &str| {
        let start = plan.text.find(&format!("[class.{name}]")).unwrap();
        let text = &plan.text[start..];
        text[..text.find("\n\n").unwrap()].to_owned()
    };
    assert!(class("calls").contains("or addr 10.0.0.7"), "{}", plan.text);
    assert!(class("calls").contains("or dscp {cs4, cs5, 44, ef, cs6, cs7}"), "{}", plan.text);
    assert!(class("background").contains("or addr 10.0.0.8"), "{}", plan.text);
    assert!(class("video").contains("dscp {4, cs2"), "{}", plan.text);
}
