//! Names of protocols, of DSCP code points and of the bits of ECN.

/// Protocols over IP that a match may name, with their numbers.
pub(super) const PROTOCOLS: [(&str, u16); 9] = [
    ("tcp", 6),
    ("udp", 17),
    ("icmp", 1),
    ("icmp6", 58),
    ("sctp", 132),
    ("gre", 47),
    ("esp", 50),
    ("igmp", 2),
    ("ospf", 89),
];

/// Protocols that have ports, by number.
pub(super) const WITH_PORTS: [u16; 5] = [6, 17, 33, 132, 136];

/// DSCP code points (RFC 2474, 2597, 3246, 8622) by name; a number is printed by its first.
pub(super) const CODE_POINTS: [(&str, u16); 23] = [
    ("be", 0),
    ("cs0", 0),
    ("le", 1),
    ("cs1", 8),
    ("af11", 10),
    ("af12", 12),
    ("af13", 14),
    ("cs2", 16),
    ("af21", 18),
    ("af22", 20),
    ("af23", 22),
    ("cs3", 24),
    ("af31", 26),
    ("af32", 28),
    ("af33", 30),
    ("cs4", 32),
    ("af41", 34),
    ("af42", 36),
    ("af43", 38),
    ("cs5", 40),
    ("ef", 46),
    ("cs6", 48),
    ("cs7", 56),
];

/// The bits of ECN (RFC 3168) by name.
pub(super) const ECN: [(&str, u16); 4] = [("not-ect", 0), ("ect1", 1), ("ect0", 2), ("ce", 3)];

pub(super) fn number(names: &[(&str, u16)], word: &str) -> Option<u16> {
    names.iter().find(|(name, _)| *name == word).map(|(_, number)| *number)
}

pub(super) fn name<'a>(names: &[(&'a str, u16)], number: u16) -> Option<&'a str> {
    names.iter().find(|(_, of)| *of == number).map(|(name, _)| *name)
}
