//! Whose fault it is that packets are late.

use std::path::Path;

use laxity_forward::SentPacket;

use super::*;
use crate::status::WayStatus;

const CALL: ClassId = ClassId(0);

/// A call whose contract is kept by these means, beside a class that is promised nothing.
fn plan(police: &str) -> Plan {
    let text = format!(
        "version = 1\n[link]\nrate = \"1mbit\"\nmax-packet = \"1000b\"\n[scheduler]\nkind = \"edf\"\n\
         [class.call]\ndeadline = \"20ms\"\npolice = \"{police}\"\n\
         arrival = {{ bucket = \"400b\", rate = \"100kbit\", packet = \"200b\" }}\n[class.rest]\n"
    );
    Plan::parse(&text, "plan.toml", Path::new("")).unwrap()
}

/// A packet of the call with this delay. Lateness excuses a part of it.
fn sent(delay: Nanos, allowance: Nanos) -> Event {
    Event::Sent(SentPacket {
        number: 0,
        arrived: Nanos::ZERO,
        packet: Packet { class: CALL, length: 200, ..Packet::default() },
        deadline: None,
        start: Nanos::ZERO,
        lateness: Nanos::ZERO,
        departure: delay,
        allowance,
        held: Nanos::ZERO,
        is_under_way: false,
        is_washed: false,
    })
}

const BREACH: Event = Event::Nonconforming { number: 0, class: CALL };
const SECOND: Nanos = Nanos(1_000_000_000);

fn status(police: &str, events: &[Event]) -> WayStatus {
    let plan = plan(police);
    let mut measured = WayMeasurement::new(plan.promises()).policed(&plan);
    events.iter().for_each(|event| measured.add(event));
    WayStatus::new("out", &plan, &measured)
}

#[test]
fn what_lateness_excuses_is_a_miss_and_no_broken_promise() {
    let way = status("count", &[sent(SECOND, SECOND)]);
    let call = &way.classes[0];
    assert_eq!((call.misses(), call.broken, way.broken), (Some(1), 0, 0));
    assert!(!call.is_broken() && !call.forfeit);
    let way = status("count", &[sent(SECOND, Nanos::ZERO)]);
    assert_eq!((way.classes[0].broken, way.broken), (1, 1));
    assert!(way.classes[0].is_broken());
}

#[test]
fn a_sender_that_breaks_its_contract_forfeits_its_promise_where_that_is_only_counted() {
    for (police, is_forfeit) in [("count", true), ("demote", false), ("drop", false)] {
        let way = status(police, &[BREACH, sent(SECOND, Nanos::ZERO)]);
        let call = &way.classes[0];
        assert_eq!((call.nonconforming, call.forfeit), (1, is_forfeit), "{police}");
        assert_eq!((call.misses(), call.is_broken()), (Some(1), !is_forfeit), "{police}");
        assert_eq!(way.broken, u64::from(!is_forfeit), "{police}");
    }
    // What was broken before stays so.
    let way = status("count", &[sent(SECOND, Nanos::ZERO), BREACH, sent(SECOND, Nanos::ZERO)]);
    assert_eq!((way.broken, way.classes[0].broken, way.classes[0].misses()), (1, 1, Some(2)));
}

#[test]
fn a_packet_that_broke_its_contract_is_not_lost_by_the_link() {
    let mut call = status("drop", &[]).classes.remove(0);
    call.dropped = [("contract".to_string(), 3)].into();
    assert!(!call.has_lost());
    call.dropped.insert("queue-full".into(), 1);
    assert!(call.has_lost());
}
