//! Windows under echoes of congestion (RFC 3168 section 6.1.2).

use laxity::units::Nanos;
use proptest::prelude::*;

use super::conservation::config;
use crate::tcp::{Ack, Config, Congestion, Ecn, Recovery, Sender, Variant};

/// What happens next to a sender whose segments arrive in order.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The largest number of segments that are acknowledged.
    Ack {
        segments: u64,
        echo: bool,
    },
    Timeout,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => (1_u64..4, any::<bool>()).prop_map(|(segments, echo)| Step::Ack { segments, echo }),
        1 => Just(Step::Timeout),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Without a duplicate acknowledgement no window is ever inflated: it grows by slow start or
    /// congestion avoidance only, before and after timeouts, and neither goes on under an echo.
    #[test]
    fn windows_do_not_grow_on_echoes(config in config(), steps in prop::collection::vec(step(), 1..300)) {
        // The draft of BBR has no answer to ECN.
        prop_assume!(config.variant.congestion != Congestion::Bbr);
        let mut sender = Sender::new(Config { transfer: None, ecn: Ecn::Capable, ..config });
        let (mut now, mut next, mut marked) = (Nanos::ZERO, 0, 0);
        for step in steps {
            while let Some(segment) = sender.poll_send(now) {
                next = next.max(segment.number + 1);
            }
            now += Nanos(20_000_000);
            let before = sender.congestion_window();
            match step {
                Step::Ack { segments, echo } => {
                    marked += u32::from(echo);
                    let acknowledged = (sender.acknowledged() + segments).min(next);
                    sender.on_ack(now, &Ack { next: acknowledged, echo, marked, ..Ack::default() });
                    let after = sender.congestion_window();
                    prop_assert!(!echo || after <= before, "from {before} to {after}");
                }
                Step::Timeout => {
                    now = now.max(sender.next_timer().unwrap_or(now));
                    sender.on_timer(now);
                }
            }
        }
    }
}

/// New segments say what is asked for, those that are sent again nothing (RFC 3168 section 6.1.5).
#[test]
fn segments_say_what_queues_may_do() {
    for ecn in [Ecn::NotCapable, Ecn::Capable, Ecn::L4s] {
        let mut sender = Sender::new(Config { ecn, ..Config::modern(1_500) });
        let new = sender.poll_send(Nanos::ZERO).expect("a window is open");
        assert_eq!(new.ecn, ecn);
        let expiry = sender.next_timer().expect("it is outstanding");
        sender.on_timer(expiry);
        let again = sender.poll_send(expiry).expect("it is lost");
        assert_eq!((again.number, again.ecn), (0, Ecn::NotCapable));
        let variant = Variant::new(Recovery::RackTlp, Congestion::Bbr);
        let mut bbr = Sender::new(Config { ecn, variant, ..Config::modern(1_500) });
        assert_eq!(bbr.poll_send(Nanos::ZERO).map(|segment| segment.ecn), Some(Ecn::NotCapable));
    }
}
