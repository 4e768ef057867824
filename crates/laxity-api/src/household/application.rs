//! Applications: how their packets are told, and what they need.
//!
//! Ports are those that the makers of the applications publish for firewalls; code points those of
//! RFC 4594 and what the applications set. Applications that send everything over port 443, such as
//! video in a browser, cannot be told from others by their packets.

use std::fmt;
use std::str::FromStr;

use laxity::units::{Nanos, Rate};

use super::Direction;

/// A kind of application that matters to a household.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Application {
    /// Its word, which is the name of its class.
    pub word: &'static str,
    /// Well-known ones.
    pub examples: &'static str,
    /// What it needs.
    pub need: Need,
    signs: Signs,
}

/// What an application needs of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a plan has a kind of class for each")]
pub enum Need {
    /// Every packet within a delay.
    Delay(DelayNeed),
    /// A share of the link, in parts beside those of others.
    Share {
        /// Parts of what is sent.
        up: u64,
        /// Parts of what is received.
        down: u64,
    },
}

/// Packets within a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayNeed {
    /// The delay that is best.
    pub delay: Nanos,
    /// Devices that share one of it: 2 if half of the devices use it at the same time.
    pub devices_per_use: u32,
    /// The rate of one with its best quality, sent.
    pub up: Rate,
    /// The same, received.
    pub down: Rate,
    /// The rate below which it is of no use.
    pub least: Rate,
    /// The longest IP packet in bytes.
    pub packet: u32,
}

/// How packets are told: by ports as sets of numbers and ranges, and by code points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Signs {
    /// Protocols without ports.
    protocols: &'static [&'static str],
    /// UDP ports of the far side.
    udp: &'static str,
    /// UDP ports of the household's side.
    own_udp: &'static str,
    /// TCP ports of the far side.
    tcp: &'static str,
    dscp: &'static str,
}

const NO_SIGNS: Signs = Signs { protocols: &[], udp: "", own_udp: "", tcp: "", dscp: "" };

impl Application {
    /// Those that are asked about.
    pub const ALL: [Application; 4] =
        [Application::CALLS, Application::GAMES, Application::WORK, Application::STREAMING];

    /// Calls with or without pictures. Of the UDP ports 3478 to 3481 are STUN, TURN and Teams, 5004
    /// and 9000 Webex, 5060 and 5061 SIP, 8801 to 8810 Zoom, 10000 Jitsi, 16384 to 16403 FaceTime
    /// and phones, 19302 to 19309 Meet; Teams uses 50000 to 50059 on the own side.
    pub const CALLS: Application = Application {
        word: "calls",
        examples: "Zoom, Teams, Meet, FaceTime, WhatsApp, Webex, Jitsi, SIP phones",
        need: Need::Delay(DelayNeed {
            delay: Nanos(30_000_000),
            devices_per_use: 2,
            up: Rate(1_500_000),
            down: Rate(2_500_000),
            least: Rate(100_000),
            packet: 1250,
        }),
        signs: Signs {
            udp: "3478-3481, 5004, 5060-5061, 8801-8810, 9000, 10000, 16384-16403, 19302-19309",
            own_udp: "50000-50059",
            dscp: "ef, 44, cs5, af41, af42, af43",
            ..NO_SIGNS
        },
    };

    /// Games. Of the UDP ports 3074 is Xbox and Call of Duty, 3658 PlayStation, 5000 to 5500 League
    /// of Legends, 7000 to 8181 Valorant and Rocket League, 9001 to 9100 Fortnite, 19132 Minecraft,
    /// 27000 to 27100 Steam, 37000 to 40000 Electronic Arts, 47998 to 48010 Moonlight, 49003 to
    /// 49006 GeForce Now; of the TCP ports 3724 is World of Warcraft and 25565 Minecraft.
    pub const GAMES: Application = Application {
        word: "games",
        examples: "Xbox, PlayStation, Steam, Fortnite, League of Legends, Minecraft, GeForce Now",
        need: Need::Delay(DelayNeed {
            delay: Nanos(20_000_000),
            devices_per_use: 2,
            up: Rate(250_000),
            down: Rate(500_000),
            least: Rate(80_000),
            packet: 1250,
        }),
        signs: Signs {
            udp: "3074, 3658, 5000-5500, 7000-8181, 9001-9100, 19132-19133, 27000-27100, 37000-40000, \
                  47998-48010, 49003-49006",
            own_udp: "3074",
            tcp: "3724, 25565",
            dscp: "cs4",
            ..NO_SIGNS
        },
    };

    /// Remote desktops, shells and private networks. Of the UDP ports 500 and 4500 are IPsec, 1194
    /// OpenVPN, 41641 Tailscale, 51820 WireGuard; 3389 is RDP, 5900 to 5910 VNC, 5938 TeamViewer,
    /// 7070 AnyDesk, 1494 and 2598 Citrix, 22 SSH.
    pub const WORK: Application = Application {
        word: "work",
        examples: "VPN, WireGuard, IPsec, remote desktops, Citrix, SSH",
        need: Need::Share { up: 2, down: 2 },
        signs: Signs {
            protocols: &["esp", "gre"],
            udp: "500, 1194, 3389, 4500, 5938, 41641, 51820",
            tcp: "22, 1194, 1494, 2598, 3389, 5900-5910, 5938, 7070",
            dscp: "cs2, af21, af22, af23",
            ..NO_SIGNS
        },
    };

    /// Sound and pictures that are sent as they are watched: RTSP on 554 and 8554, RTMP on 1935.
    pub const STREAMING: Application = Application {
        word: "streaming",
        examples: "RTMP to Twitch or YouTube, RTSP cameras, boxes of a provider",
        need: Need::Share { up: 1, down: 2 },
        signs: Signs {
            udp: "554, 8554",
            tcp: "554, 1935, 8554",
            dscp: "cs3, af31, af32, af33",
            ..NO_SIGNS
        },
    };

    /// Names, times and addresses, and what finds faults. Every household has them: a page waits
    /// for the name of its server before anything else.
    pub(super) const LOOKUPS: Application = Application {
        word: "lookups",
        examples: "DNS, NTP, DHCP, ping",
        need: Need::Delay(DelayNeed {
            delay: Nanos(50_000_000),
            devices_per_use: 2,
            up: Rate(32_000),
            down: Rate(64_000),
            least: Rate(8_000),
            packet: 540,
        }),
        signs: Signs {
            protocols: &["icmp", "icmp6"],
            udp: "53, 67, 68, 123, 546, 547",
            tcp: "53, 853",
            dscp: "cs6, cs7",
            ..NO_SIGNS
        },
    };

    /// What has time. 6881 to 6999 and 51413 are BitTorrent, 119 and 563 Usenet, 873 rsync, 7680
    /// updates of Windows.
    pub(super) const BACKGROUND: Application = Application {
        word: "background",
        examples: "BitTorrent, Usenet, rsync, updates of Windows",
        need: Need::Share { up: 1, down: 1 },
        signs: Signs {
            udp: "6881-6999, 51413",
            own_udp: "6881-6999, 51413",
            tcp: "119, 563, 873, 6881-6999, 7680, 51413",
            dscp: "le, cs1",
            ..NO_SIGNS
        },
    };

    /// Tests in the match language: its packets in one direction pass at least one of them.
    pub fn tests(&self, direction: Direction) -> Vec<String> {
        let Signs { protocols, udp, own_udp, tcp, dscp } = self.signs;
        let (far, own) = match direction {
            Direction::Up => ("dport", "sport"),
            Direction::Down => ("sport", "dport"),
        };
        let ports = [("udp", far, udp), ("udp", own, own_udp), ("tcp", far, tcp)];
        let ports = ports.into_iter().filter(|(_, _, ports)| !ports.is_empty());
        let ports = ports.map(|(protocol, end, ports)| format!("{protocol} {end} {{{ports}}}"));
        let protocols = protocols.iter().map(|protocol| (*protocol).to_owned());
        let dscp = (!dscp.is_empty()).then(|| format!("dscp {{{dscp}}}"));
        ports.chain(protocols).chain(dscp).collect()
    }
}

impl DelayNeed {
    /// The rate of one with its best quality.
    pub fn best(&self, direction: Direction) -> Rate {
        match direction {
            Direction::Up => self.up,
            Direction::Down => self.down,
        }
    }

    /// The number of them at the same time, for a number of devices.
    pub fn uses(&self, devices: u32) -> u32 {
        devices.div_ceil(self.devices_per_use).max(1)
    }
}

impl fmt::Display for Application {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word)
    }
}

/// No application is called so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not known: what may matter is {}", Application::ALL.map(|one| one.word).join(", "))]
pub struct UnknownApplication;

impl FromStr for Application {
    type Err = UnknownApplication;

    fn from_str(word: &str) -> Result<Application, UnknownApplication> {
        Application::ALL.into_iter().find(|one| one.word == word).ok_or(UnknownApplication)
    }
}

#[cfg(test)]
mod tests {
    use laxity_plan::matching::Match;

    use super::*;

    #[test]
    fn the_packets_of_every_application_are_a_match() {
        let all =
            Application::ALL.into_iter().chain([Application::LOOKUPS, Application::BACKGROUND]);
        for application in all {
            for direction in Direction::ALL {
                for text in application.tests(direction) {
                    assert!(text.parse::<Match>().is_ok(), "{application}: {text}");
                }
            }
        }
    }

    #[test]
    fn ports_of_the_far_side_are_where_packets_go_or_come_from() {
        let calls = Application::CALLS;
        assert!(calls.tests(Direction::Up)[0].starts_with("udp dport {3478"));
        assert!(calls.tests(Direction::Down)[0].starts_with("udp sport {3478"));
        assert_eq!(calls.tests(Direction::Down)[1], "udp dport {50000-50059}");
    }
}
