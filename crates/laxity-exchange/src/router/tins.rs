//! The tins of cake: which code points belong together, and what of the link they have.

use laxity::sched::cake::Diffserv;

use super::Urgency;

impl Urgency {
    /// The code points of the tins that are this urgent, as values in a match (`sch_cake.c`, Linux
    /// 6.1).
    pub fn code_points(self, tins: Diffserv) -> Option<&'static str> {
        match (tins, self) {
            (Diffserv::Besteffort, _) | (Diffserv::Diffserv3, Urgency::Video) => None,
            (Diffserv::Diffserv3 | Diffserv::Diffserv4, Urgency::Bulk) => Some("le, cs1"),
            (Diffserv::Diffserv3, Urgency::RealTime) => Some("4, 44, ef, cs6, cs7"),
            (Diffserv::Diffserv4 | Diffserv::Diffserv8, Urgency::Video) => {
                Some("4, cs2, af21, af22, af23, cs3, af31, af32, af33, af41, af42, af43")
            }
            (Diffserv::Diffserv4 | Diffserv::Diffserv8, Urgency::RealTime) => {
                Some("cs4, cs5, 44, ef, cs6, cs7")
            }
            (Diffserv::Diffserv8, Urgency::Bulk) => Some("le, 2, cs1, af11, af12, af13"),
            // The higher the precedence, the more urgent; 1 is below 0 by convention alone.
            (Diffserv::Precedence, Urgency::Bulk) => None,
            (Diffserv::Precedence, Urgency::Video) => Some("16-39"),
            (Diffserv::Precedence, Urgency::RealTime) => Some("40-63"),
        }
    }
}
