use std::collections::BTreeSet;

use laxity_linux::namespace::Namespace;
use laxity_tc::netlink::{Object, Sort};

use super::*;
use crate::objects::Objects;
use crate::setup::{Ingress, IngressDevice};

fn class(minor: u16, attributes: &[u8]) -> Object {
    let (handle, parent) = (Handle::new(1, minor), Handle::new(1, 0));
    let attributes = attributes.to_vec();
    Object { sort: Sort::Class, handle, parent, info: 0, attributes }
}

/// Neither an interface of the same name and number in another namespace, nor one of another form.
#[test]
fn what_was_applied_elsewhere_or_otherwise_is_not_taken_for_what_is_here() {
    let elsewhere = match Namespace::new() {
        Ok(elsewhere) => elsewhere,
        Err(error) if error.is_permission() => return eprintln!("SKIPPED: {error}"),
        Err(error) => panic!("{error}"),
    };
    let numbers = [(); 20].map(|()| {
        // Files of namespaces that are gone give their numbers to new ones.
        let other = Namespace::new().unwrap();
        other.run(namespace::cookie).unwrap().unwrap()
    });
    let different: BTreeSet<u64> = numbers.into_iter().collect();
    assert_eq!(different.len(), 20);
    let here = elsewhere.run(namespace::cookie).unwrap().unwrap();
    assert!(!different.contains(&here));

    let folder = tempfile::tempdir().unwrap();
    let records = Records { base: folder.path().join("eth0") };
    let record = Record {
        version: VERSION,
        index: 7,
        plan: Some("uplink".into()),
        promises: Vec::new(),
        names: BTreeMap::new(),
        contracts: String::new(),
        ingress: None,
        before: Setup::default(),
        original: None,
        after: Objects::from(vec![class(1, &[1])]).into(),
        to_be_confirmed: false,
    };
    records.begin(&record).unwrap();
    assert_eq!(records.pending(), Some(record.clone()));
    assert!(records.look(7, |found| found.is_some()) && !records.look(8, |found| found.is_some()));
    records.begin(&Record { version: VERSION + 1, ..record }).unwrap();
    assert_eq!(records.pending(), None);
    assert!(!records.look(7, |found| found.is_some()));
}

/// A record as the first form has it.
#[test]
fn a_record_of_each_form_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let records = Records { base: folder.path().join("eth0") };
    let text = include_str!("../../tests/records/1.json");
    fs::write(records.file(Stage::Settled), text).unwrap();
    let record = records.settled().expect("it is read");
    assert_eq!((record.index, record.promises.len()), (3, 3));
}

#[test]
fn what_was_written_is_known_again_in_whatever_form() {
    let given: Setup = objects([class(1, &[1, 2, 3]), class(2, &[])]).into();
    for text in [serde_json::to_string(&given), serde_json::to_string_pretty(&given)] {
        let text = text.unwrap();
        let written: StoredSetup<'_> = serde_json::from_str(&text).unwrap();
        assert!(written.is(&given));
        for other in [
            objects([class(1, &[1, 2, 3])]),
            objects([class(1, &[1, 2, 4]), class(2, &[])]),
            objects([class(1, &[1, 2, 3]), class(2, &[]), class(3, &[])]),
        ] {
            assert!(!written.is(&other.into()));
        }
    }
}

#[test]
fn both_directions_are_written_and_read() {
    let objects = objects([class(1, &[1])]);
    let device = IngressDevice { name: "ifb-eth0".into(), index: 9, objects: objects.clone() };
    let ingress = Ingress { has_clsact: true, redirect: Some(9), device: Some(device) };
    let given = Setup { egress: objects, ingress: Some(ingress) };
    let text = serde_json::to_string(&given).unwrap();
    assert_eq!(serde_json::from_str::<Setup>(&text).unwrap(), given);
    let written: StoredSetup<'_> = serde_json::from_str(&text).unwrap();
    assert!(written.is(&given));
    assert!(!written.is(&Setup { ingress: None, ..given }));
}

fn objects<const N: usize>(all: [Object; N]) -> Objects {
    all.to_vec().into()
}
