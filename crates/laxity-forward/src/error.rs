//! Why a plan cannot be forwarded by.

use thiserror::Error;

/// What is wrong with a plan; the forwarder goes on by the one it has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It is of a network.
    #[error(
        "the plan is of a network; one link is forwarded over: take out `[network]`, or name the interfaces of \
         its nodes with --port"
    )]
    Network,
    /// A link has a rate that changes over time.
    #[error(
        "`rate-trace` is for simulations and for plans of one link: routers have real links, with the rates that they \
         have; take it out"
    )]
    Varying,
    /// The rate of a link between nodes is to be found.
    #[error(
        "a `rate` that is found is for a bridge of two interfaces: write one rate for each link of routers"
    )]
    Found,
    /// A link delays packets by chance, or doubles them.
    #[error(
        "`jitter`, `reorder` and `duplicate` are for simulations and for plans of one link: routers have real links; \
         take them out"
    )]
    Disturbed,
    /// Another rate is to be shared among threads, or among more or fewer.
    #[error(
        "the plan has other `threads`, or another `rate` for them: several threads keep to what they share; end the \
         link, and start it with this plan"
    )]
    Threads,
    /// The scheduler is to begin anew while packets are on a wire.
    #[error("a wire is emulated, which does not begin anew")]
    Wire,
    /// Its discipline is one for networks.
    #[error("`kind = \"{0}\"` is for networks: a link is shared under any other kind of scheduler")]
    OfNetworks(&'static str),
    /// Nothing takes the frames that no match holds for.
    #[error(
        "no class takes the frames that no `match` holds for: leave one class without `match` and \
         `deadline`, or give one `match = \"any\"`"
    )]
    NoDefault,
    /// A class that has classes below it takes frames.
    #[error("class `{0}` has classes below it and no packets of its own: `match` belongs to those")]
    NotALeaf(String),
    /// A class takes packets by properties that only a host knows, of its own packets.
    #[error(
        "`match` of class `{0}` tests `mark`, `ct mark`, `priority` or `cgroup`, which a host knows of its own packets: \
         they are seen with --dev alone"
    )]
    HostMarks(String),
    /// Nothing tells packets of a class that frames are reserved for.
    #[error("frames are reserved for class `{0}`, and nothing tells its packets: add `match`")]
    Unmatched(String),
    /// Nothing says which way a class goes.
    #[error("frames are reserved for class `{0}`, and no source has a `path` for it")]
    Pathless(String),
    /// A class goes several ways.
    #[error("class `{0}` takes several paths: give each a class of its own")]
    Paths(String),
    /// Nothing tells which time it is that a packet passes.
    #[error(
        "class `{class}` passes `{node}` twice: a router cannot tell which time it is; take out `laps`, or lead the path past each node once"
    )]
    Twice {
        /// The class.
        class: String,
        /// The node.
        node: String,
    },
    /// A class is matched by DSCP, which routers overwrite.
    #[error(
        "class `{0}` is matched by DSCP, where routers mark frames: match it by addresses or ports"
    )]
    Dscp(String),
    /// A router neither sends nor receives.
    #[error(
        "the path of class `{class}` begins or ends at `{node}`, which is run here: packets come from hosts and go to hosts; add a node for the host, with a `private` link"
    )]
    Ends {
        /// The class.
        class: String,
        /// The node.
        node: String,
    },
    /// Packets are held at a router that does not know which of them are best effort.
    #[error(
        "`regulate` holds packets of class `{class}` at `{node}`, where those that `police = \"demote\"` made best \
         effort are not told from the others: write `police = \"drop\"`"
    )]
    Demoted {
        /// The class.
        class: String,
        /// The node.
        node: String,
    },
    /// What time-driven priority needs of its settings.
    #[error("time frames: {0}")]
    Frames(#[from] laxity::error::SetupError),
    /// A packet that is queued is longer than all that the new plan expects of its class.
    #[error(
        "a packet of {length} bytes is queued for class `{class}`, whose longest is of {limit}: accepted \
         once it is sent, or with longer packets in the plan"
    )]
    Queued {
        /// Its length in bytes.
        length: u32,
        /// The longest that is expected.
        limit: u64,
        /// Of this class.
        class: String,
    },
}
