//! Traffic policies of VyOS (docs.vyos.io, Traffic Policy), as `set` commands or with braces.

mod config;
mod matches;
mod policy;
mod queue;

use std::path::Path;

use laxity::units::Rate;
use laxity_plan::Plan;

use crate::error::shown;
use crate::{Conversion, Error};

use config::Node;

/// What a configuration does not say.
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "a front end has an option for each")]
pub struct Options {
    /// The policy that is wanted. Default: the one at the way out of an interface, or the only one.
    pub policy: Option<String>,
    /// The rate of the link, where the policy has none or has it from the interface.
    pub link_rate: Option<Rate>,
}

/// Reads a traffic policy as a plan.
///
/// # Errors
/// If the text is no configuration of VyOS, has no such policy or several, or says something that
/// VyOS does not have.
pub fn import(text: &str, options: &Options) -> Result<Conversion, Error> {
    let root = config::read(text)?;
    let (policy, interface) = chosen(&root, options.policy.as_deref())?;
    let mut notes = Vec::new();
    let body = policy::text(&root, &policy, options, &mut notes)?;
    let place = interface.map(|interface| format!(" on {interface}")).unwrap_or_default();
    let mut text = format!(
        "# Imported with `laxity import vyos`: policy {} {}{place}. Numbers are lines of the configuration.\n",
        policy.kind,
        shown(policy.name)
    );
    for note in &notes {
        text += &format!("#   {note}\n");
    }
    text += &body;
    Plan::parse(&text, "plan", Path::new("")).map_err(|error| {
        Error::new(format!("what the configuration says is no plan: {}", error.message()))
    })?;
    Ok(Conversion { text, notes })
}

/// A policy and where it is.
struct Policy<'a> {
    kind: &'a str,
    name: &'a str,
    node: &'a Node,
}

/// Where policies are: of VyOS 1.4 on, and before.
const POLICIES: [&[&str]; 2] = [&["qos", "policy"], &["traffic-policy"]];

/// The policy that is wanted, and the interface that it is at the way out of.
fn chosen<'a>(
    root: &'a Node,
    wanted: Option<&str>,
) -> Result<(Policy<'a>, Option<&'a str>), Error> {
    let all: Vec<Policy<'_>> = POLICIES
        .iter()
        .flat_map(|path| root.all(path))
        .flat_map(|(kind, kinds)| {
            kinds.all(&[]).map(move |(name, node)| Policy { kind, name, node })
        })
        .collect();
    let bound = bindings(root);
    let interface = |name: &str| {
        bound.iter().find(|(policy, _)| *policy == name).map(|(_, interface)| *interface)
    };
    let names = all.iter().map(|policy| shown(policy.name)).collect::<Vec<_>>().join(", ");
    let is_only = all.len() == 1;
    let mut fitting = all.into_iter().filter(|policy| match wanted {
        Some(wanted) => policy.name == wanted,
        None => is_only || interface(policy.name).is_some(),
    });
    match (fitting.next(), fitting.next(), wanted) {
        (Some(policy), None, _) => {
            let at = interface(policy.name);
            Ok((policy, at))
        }
        _ if names.is_empty() => {
            Err(Error::new("there is no `qos policy` and no `traffic-policy`"))
        }
        (None, _, Some(wanted)) => {
            let wanted = shown(wanted);
            Err(Error::new(format!("there is no policy `{wanted}`: there are {names}")))
        }
        _ => {
            Err(Error::new(format!("there are several policies: say which with --policy: {names}")))
        }
    }
}

/// Policies at the way out of interfaces.
fn bindings(root: &Node) -> Vec<(&str, &str)> {
    let new = root
        .all(&["qos", "interface"])
        .filter_map(|(interface, node)| Some((node.value(&["egress"])?.0, interface)));
    let old = root.all(&["interfaces"]).flat_map(|(_, kind)| kind.all(&[]));
    let old = old.filter_map(|(interface, node)| {
        Some((node.value(&["traffic-policy", "out"])?.0, interface))
    });
    new.chain(old).collect()
}

#[cfg(test)]
mod tests;
