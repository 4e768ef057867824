//! Licences: a distributor of Laxity can keep to all of them.

use std::collections::{BTreeMap, HashSet};

use cargo_metadata::{DependencyKind, Metadata, Package, PackageId};
use serde_json::Value;
use spdx::{Expression, ParseMode};

use crate::outcome::Status;
use crate::steps::Step;
use crate::workspace::Workspace;

/// What asks for no more than that its notice is kept. MPL-2.0 is not among them because nothing
/// needs it.
const ACCEPTED: [&str; 11] = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Every package that is built into Laxity, or runs while it is built, may be used under licences
/// that are accepted.
pub(crate) fn step() -> Step {
    Step::new("licences", |workspace| {
        let packages = shipped(&workspace.metadata);
        let pages = page_packages(workspace)?;
        let of_pages = pages.iter().filter_map(|(name, licence)| refusal(name, licence.as_deref()));
        let refused = packages.iter().filter_map(|it| refusal(&it.name, it.license.as_deref()));
        let refused: Vec<String> = refused.chain(of_pages).collect();
        if !refused.is_empty() {
            return Err(format!("{}; accepted are {}", refused.join("; "), ACCEPTED.join(", ")));
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let licences = packages.iter().map(|package| package.license.as_deref());
        for licence in licences.chain(pages.iter().map(|(_, licence)| licence.as_deref())) {
            *counts.entry(licence.unwrap_or_default()).or_default() += 1;
        }
        for (licence, count) in counts {
            println!("{count:4}  {licence}");
        }
        Ok(Status::Passed)
    })
}

/// The workspace's packages and all that they depend on, except for tests alone.
fn shipped(metadata: &Metadata) -> Vec<&Package> {
    let resolve = metadata.resolve.as_ref().expect("metadata was asked for with dependencies");
    let nodes = resolve.nodes.iter().map(|node| (&node.id, node));
    let nodes: BTreeMap<_, _> = nodes.collect();
    let mut found: HashSet<&PackageId> = metadata.workspace_members.iter().collect();
    let mut waiting: Vec<&PackageId> = found.iter().copied().collect();
    while let Some(package) = waiting.pop() {
        for dependency in &nodes[package].deps {
            let mut kinds = dependency.dep_kinds.iter().map(|kind| kind.kind);
            if kinds.any(|kind| kind != DependencyKind::Development)
                && found.insert(&dependency.pkg)
            {
                waiting.push(&dependency.pkg);
            }
        }
    }
    metadata.packages.iter().filter(|package| found.contains(&package.id)).collect()
}

/// The packages that the playground's page is made of and with, and their licences.
fn page_packages(workspace: &Workspace) -> Result<Vec<(String, Option<String>)>, String> {
    let file = workspace.root().join("web/package-lock.json");
    let failed = |error: String| format!("{}: {error}", file.display());
    let text = std::fs::read_to_string(&file).map_err(|error| failed(error.to_string()))?;
    let lock: Value = serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
    let packages = lock["packages"].as_object().ok_or_else(|| failed("no packages".into()))?;
    let others = packages.iter().filter(|(path, _)| !path.is_empty());
    let licence = |package: &Value| package["license"].as_str().map(str::to_owned);
    Ok(others.map(|(path, package)| (path.clone(), licence(package))).collect())
}

/// Why a package may not be used.
fn refusal(name: &str, licence: Option<&str>) -> Option<String> {
    let Some(licence) = licence else { return Some(format!("{name} names no licence")) };
    match acceptable(licence) {
        Ok(true) => None,
        Ok(false) => Some(format!("{name} is under {licence}")),
        Err(error) => Some(format!("{name}: {error}")),
    }
}

/// Whether an expression of SPDX, or one in Cargo's older form `MIT/Apache-2.0`, can be kept to
/// with accepted licences. An exception `WITH` which a licence comes only ever allows more.
fn acceptable(licence: &str) -> Result<bool, String> {
    let expression = Expression::parse_mode(licence, ParseMode::LAX);
    let expression = expression.map_err(|error| error.to_string())?;
    Ok(expression.evaluate(|needed| {
        needed.license.id().is_some_and(|licence| ACCEPTED.contains(&licence.name))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_choice_or_all_parts_must_be_accepted() {
        for licence in
            ["MIT", "MIT/Apache-2.0", "GPL-3.0-only OR ISC", "Apache-2.0 WITH LLVM-exception"]
        {
            assert_eq!(acceptable(licence), Ok(true), "{licence}");
        }
        for licence in ["GPL-3.0-only", "MIT AND MPL-2.0", "LicenseRef-own"] {
            assert_eq!(acceptable(licence), Ok(false), "{licence}");
        }
        assert!(acceptable("as you like").is_err());
    }
}
