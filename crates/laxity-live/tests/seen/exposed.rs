//! What Prometheus makes of the metrics, and that documents and the dashboard name just these.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use laxity_live::metrics::{Format, METRICS};
use laxity_live::status::Status;

use crate::sample::{Sample, status, watched};

fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Starts a program; none where there is none, and then it says so.
fn started(command: &mut Command) -> Option<Child> {
    match command.spawn() {
        Ok(child) => Some(child),
        Err(error) => {
            eprintln!("SKIPPED: {}: {error}", command.get_program().display());
            None
        }
    }
}

#[test]
fn promtool_finds_nothing_to_say() {
    [status(3), watched(3)].iter().for_each(checked);
}

fn checked(status: &Status) {
    let mut command = Command::new("promtool");
    command.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Some(mut promtool) = started(command.stderr(Stdio::piped())) else { return };
    let text = Format::Prometheus.write(status);
    promtool.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = promtool.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success() && said.is_empty(), "{said}");
}

#[test]
fn both_forms_say_the_same() {
    let status = status(2);
    let [prometheus, open] =
        [Format::Prometheus, Format::OpenMetrics].map(|form| form.write(&status));
    let samples = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_string).collect()
    };
    assert_eq!(samples(&prometheus), samples(&open));
    assert!(open.ends_with("\n# EOF\n") && !prometheus.contains("# EOF"));
    for line in [
        "laxity_class_delay_seconds_bucket{way=\"out\",class=\"class-1\",le=\"0.01\"} 1000",
        "laxity_class_delay_seconds_bucket{way=\"out\",class=\"class-1\",le=\"+Inf\"} 1000",
        "laxity_class_delay_seconds_sum{way=\"out\",class=\"class-1\"} 2.5025",
        "laxity_class_bound_seconds{way=\"out\",class=\"call \\\"\\\\\\n\"} 0.008",
        "laxity_link_rate_bytes_per_second{way=\"out\"} 2500000",
        "laxity_uptime_seconds 12.3456789",
    ] {
        assert!(prometheus.lines().any(|it| it == line), "{line} in {prometheus}");
    }
}

/// Of a link that is watched there are no samples of what nobody knows, rather than zeros.
#[test]
fn what_is_not_known_is_absent() {
    let samples = |status: &Status| -> Vec<String> {
        let text = Format::Prometheus.write(status);
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_string).collect()
    };
    let [forwarded, watched] = [status(2), watched(2)].map(|status| samples(&status));
    let of = |samples: &[String], name: &str| {
        samples.iter().filter(|line| line.starts_with(name)).count()
    };
    for absent in [
        "laxity_real_time",
        "laxity_reloads",
        "laxity_orders",
        "laxity_events_lost",
        "laxity_connections_unheard",
        "laxity_interface_up",
        "laxity_interface_sent",
        "laxity_lateness",
        "laxity_class_queued",
    ] {
        assert!(of(&forwarded, absent) > 0 && of(&watched, absent) == 0, "{absent}: {watched:?}");
    }
    let counts = [of(&forwarded, "laxity_watched_"), of(&watched, "laxity_watched_")];
    assert!(counts[0] == 0 && counts[1] > 1, "{watched:?}");
    // Nothing was sent yet, so nothing was late: that is known.
    let mut idle = status(1);
    idle.ways[0].late = None;
    assert!(of(&samples(&idle), "laxity_lateness_seconds_count{way=\"out\"} 0") == 1);
}

/// Ends it if a test does not.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _gone = self.0.wait();
    }
}

#[test]
fn a_prometheus_scrapes_it() {
    let sample = Sample::new(status(2), Ok(()));
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "global: {{ scrape_interval: 1s, scrape_timeout: 1s }}\n\
         scrape_configs: [{{ job_name: laxity, static_configs: [{{ targets: ['{}'] }}] }}]\n",
        sample.address
    );
    fs::write(folder.path().join("prometheus.yml"), config).unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = Command::new("prometheus");
    command.current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
    command.args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"]);
    command.arg(format!("--web.listen-address={free}"));
    let Some(prometheus) = started(&mut command) else { return };
    let _running = Running(prometheus);
    let begun = Instant::now();
    let bound = "laxity_class_bound_seconds%7Bclass!~%22class-1%22%7D";
    let p50 = "histogram_quantile(0.5,laxity_class_delay_seconds_bucket%7Bclass=%22class-1%22%7D)";
    for (query, answer) in [(bound, "\"0.008\""), (p50, "\"0.0025"), ("up", "\"1\"")] {
        loop {
            let told = query_of(free, query).unwrap_or_default();
            if told.contains(answer) {
                break;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{query}: {told}");
            thread::sleep(Duration::from_millis(300));
        }
    }
}

fn query_of(address: std::net::SocketAddr, query: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    write!(stream, "GET /api/v1/query?query={query} HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// The table of `docs/metrics.md`; `LAXITY_RECORD=1` writes it there.
#[test]
fn the_document_lists_them_all() {
    let mut table = String::from("| metric | kind | labels | |\n| --- | --- | --- | --- |\n");
    for metric in METRICS {
        let labels: Vec<_> =
            metric.samples.labels().iter().map(|label| format!("`{label}`")).collect();
        let (name, kind, help) = (metric.full_name(), metric.kind, metric.help);
        writeln!(table, "| `{name}` | {kind} | {} | {help} |", labels.join(", ")).unwrap();
    }
    let path = repository("docs/metrics.md");
    let text = fs::read_to_string(&path).unwrap();
    let begin = text.find("| metric |").expect("it has a table");
    let end = text[begin..].find("\n\n").map_or(text.len(), |end| begin + end + 1);
    if std::env::var_os("LAXITY_RECORD").is_some() {
        fs::write(&path, format!("{}{table}{}", &text[..begin], &text[end..])).unwrap();
        return;
    }
    assert_eq!(text[begin..end], table);
}

#[test]
fn the_dashboard_shows_metrics_that_there_are() {
    let text = fs::read_to_string(repository("packaging/grafana/laxity.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(dashboard["panels"].as_array().is_some_and(|panels| panels.len() >= 6));
    let names: Vec<String> = METRICS
        .iter()
        .flat_map(|metric| {
            let name = metric.full_name();
            match metric.kind {
                "histogram" => {
                    ["_bucket", "_sum", "_count"].map(|end| format!("{name}{end}")).into()
                }
                _ => vec![name],
            }
        })
        .collect();
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let shown: Vec<_> = words.filter(|word| word.starts_with("laxity_")).collect();
    assert!(shown.len() >= 10);
    for name in shown {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
}
