//! CHOKe (Pan, Prabhakar, Psounis 2000, *CHOKe, a stateless active queue management scheme for
//! approximating fair bandwidth allocation*).

use super::Red;

/// How CHOKe is set.
///
/// As long as the average of random early detection is at least `min`, each packet that arrives is
/// compared with packets drawn from its queue. Those of its flow (the same class and flow number)
/// are dropped and so is it; if there is none, random early detection decides. Its `count` of
/// packets since the last drop has all that came since its own last drop, those that met another
/// too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choke {
    /// The average, and RED for packets that meet no other of their flow.
    pub red: Red,
    /// How many packets are drawn, one after the other, each uniformly at random.
    pub candidates: u32,
}
