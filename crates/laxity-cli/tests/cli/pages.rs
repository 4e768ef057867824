//! Reports as a browser shows them: on a page and on a phone, in light and in dark colours.

use std::fmt::Write;
use std::fs;
use std::process::{Command, Stdio};

use crate::folder::{Folder, repository};
use crate::schedulers;

/// Looks at every report in frames of both widths, and writes down what cannot be read.
const MEASURE: &str = include_str!("pages/measure.js");
/// Widths of windows: a page's and a phone's.
const WIDTHS: [u32; 2] = [1400, 390];

#[test]
fn reports_can_be_read_on_any_screen() {
    let Some(browser) = browser() else {
        eprintln!("SKIPPED: reports are looked at in Chromium, and there is none on the path");
        return;
    };
    let folder = Folder::new();
    let mut reports: Vec<String> = examples(&folder);
    reports.extend(means(&folder));
    reports.extend(odd_plans(&folder));
    #[cfg(target_os = "linux")]
    reports.extend(crate::link_report::samples(&folder));
    for (scheme, number) in [("dark", 0), ("light", 1)] {
        let wrapper = format!("{scheme}.html");
        fs::write(folder.path(&wrapper), frames(&reports, scheme)).unwrap();
        let colours = format!("--blink-settings=preferredColorScheme={number}");
        let problems = look(browser, &folder, &wrapper, &[&colours]);
        let looked_at = format!("{} looked at\n", reports.len() * WIDTHS.len());
        assert_eq!(problems, looked_at, "in {scheme} colours");
    }
}

/// The text that a page in a folder ends up with, in its element `pre`.
pub(crate) fn look(browser: &str, folder: &Folder, page: &str, options: &[&str]) -> String {
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--allow-file-access-from-files", "--window-size=1400,2000", "--dump-dom"])
        .args(options)
        .arg(format!("--user-data-dir={}", folder.path("profile").display()))
        .arg(format!("file://{}", folder.path(page).display()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let page = String::from_utf8_lossy(&output.stdout);
    let text = page.split_once("<pre>").and_then(|(_, rest)| rest.split_once("</pre>"));
    let Some((text, _)) = text else {
        panic!("nothing was looked at: {page}{}", String::from_utf8_lossy(&output.stderr));
    };
    text.to_string()
}

/// The first that is there.
pub(crate) fn browser() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
        let mut version = Command::new(name);
        version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        version.status().is_ok_and(|status| status.success())
    })
}

fn frames(reports: &[String], scheme: &str) -> String {
    let mut page = format!("<!doctype html><meta charset=utf-8><body data-scheme={scheme}>");
    for report in reports {
        for width in WIDTHS {
            write!(page, "<iframe src='{report}' width={width} height=1000></iframe>").unwrap();
        }
    }
    page + "<pre></pre><script>" + MEASURE + "</script>"
}

/// A report of a run and one of a comparison for each example.
fn examples(folder: &Folder) -> Vec<String> {
    let all = schedulers().join(",");
    let some = "fifo,edf,hfsc";
    let durations = [
        ("dumbbell", "12s", "fifo,drr"),
        ("gateway", "3s", some),
        ("gps-over-edf", "3s", some),
        ("home-uplink", "", &all),
        ("media-server", "3s", some),
        ("time-frames", "2s", "tdp,fifo"),
        ("two-hops", "5s", some),
    ];
    let reports = durations.into_iter().flat_map(|(name, duration, schedulers)| {
        let plan = repository(&format!("examples/{name}.toml"));
        written(folder, name, &plan, duration, schedulers)
    });
    reports.collect()
}

fn written(
    folder: &Folder,
    name: &str,
    plan: &str,
    duration: &str,
    schedulers: &str,
) -> Vec<String> {
    let (run, compare) = (format!("{name}-run"), format!("{name}-compare"));
    let mut commands = [
        vec!["run", plan, "--out", &run, "--packets", "none"],
        vec!["compare", plan, "--out", &compare, "--schedulers", schedulers],
    ];
    for command in &mut commands {
        if !duration.is_empty() {
            command.extend(["--duration", duration]);
        }
        let ended = folder.laxity(command);
        assert!(matches!(ended.code, Some(0 | 1)), "{command:?}: {}", ended.stderr);
    }
    [run, compare].map(|out| format!("{out}/report.html")).into()
}

/// Means over seeds, of a link and of a network.
fn means(folder: &Folder) -> Vec<String> {
    let reports = ["gateway", "two-hops"].map(|name| {
        let (plan, out) = (repository(&format!("examples/{name}.toml")), format!("{name}-seeds"));
        let command = ["compare", &plan, "--schedulers", "fifo,edf,hfsc", "--seeds", "2"];
        let ended = folder.laxity(&[&command[..], &["--duration", "3s", "--out", &out]].concat());
        assert!(matches!(ended.code, Some(0 | 1)), "{name}: {}", ended.stderr);
        format!("{out}/report.html")
    });
    reports.into()
}

/// What nobody means to write, and somebody does.
fn odd_plans(folder: &Folder) -> Vec<String> {
    let head = "version = 1\nlink = { rate = \"100mbit\", max-packet = \"1500b\" }\n";
    let class = |name: &str, deadline: u32, rate: &str, model: &str| {
        format!(
            "[class.\"{name}\"]\ndeadline = \"{deadline}us\"\n\
             arrival = {{ bucket = \"3kB\", rate = \"{rate}\" }}\n[[source]]\n\
             class = \"{name}\"\nmodel = \"{model}\"\nrate = \"{rate}\"\npacket = \"700b\"\n",
        )
    };
    let crowd: String = (0..130)
        .map(|at| {
            class(
                &format!("WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW number {at}"),
                20_000 + 97 * at,
                "200kbit",
                "poisson",
            )
        })
        .collect();
    let long = class(&"unbroken".repeat(8), 3_000, "1mbit", "constant");
    let once = class("once", 10_000, "600bit", "constant");
    let plans = [
        ("crowd", format!("{head}scheduler.kind = \"edf\"\n{crowd}"), "500ms"),
        (
            "long",
            format!(
                "{head}title = \"{}\"\nscheduler.kind = \"edf\"\n{long}",
                "untitled".repeat(20)
            ),
            "1s",
        ),
        ("once", format!("{head}scheduler.kind = \"edf\"\n{once}"), "1s"),
        ("shapes", shapes(head), "1s"),
    ];
    let reports = plans.into_iter().flat_map(|(name, plan, duration)| {
        let file = format!("{name}.toml");
        fs::write(folder.path(&file), plan).unwrap();
        written(folder, name, &file, duration, "fifo,edf,drr")
    });
    reports.collect()
}

/// A network of a chain, a ring and a star, with traffic along each.
fn shapes(head: &str) -> String {
    let chain = (0..9).map(|at| (format!("router-{at}"), format!("router-{}", at + 1)));
    let ring = (0..6).map(|at| (format!("ring-{at}"), format!("ring-{}", (at + 1) % 6)));
    let star = (0..8).map(|at| ("a-hub-with-a-long-name".to_owned(), format!("leaf-{at}")));
    let links =
        chain.chain(ring).chain(star).enumerate().map(|(at, (from, to))| {
            format!("network.link-{at}.between = [\"{from}\", \"{to}\"]\n")
        });
    let paths = [
        (0..10).map(|at| format!("\"router-{at}\"")).collect::<Vec<_>>(),
        (0..4).map(|at| format!("\"ring-{at}\"")).collect(),
        ["leaf-0", "a-hub-with-a-long-name", "leaf-5"].map(|name| format!("\"{name}\"")).into(),
    ];
    let sources = paths.iter().enumerate().map(|(at, path)| {
        format!(
            "[[source]]\nclass = \"flow-{at}\"\nmodel = \"poisson\"\nrate = \"20mbit\"\n\
             packet = \"1000b\"\npath = [{}]\n",
            path.join(", "),
        )
    });
    let classes: String = (0..paths.len()).map(|at| format!("class.flow-{at} = {{}}\n")).collect();
    let sources: String = sources.collect();
    format!("{head}scheduler.kind = \"fifo\"\n{classes}{}{sources}", links.collect::<String>())
}
