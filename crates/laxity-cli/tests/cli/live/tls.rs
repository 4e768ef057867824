//! Reservations that programs order over TLS.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use serde_json::Value;

use super::PLAN;
use super::link::Link;
use super::orders::call;
use super::programs::are_there;
use crate::folder::Folder;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const ORDERS: [&str; 6] =
    ["--reservations", "promised", "--reserve-at", "9465", "--clients", "clients.toml"];

/// A folder with a file of clients and with certificates: `server`, `media` and `stranger` of the
/// authority `ca.pem`, and `forged`, of another authority, with the name of `media`.
fn folder() -> Folder {
    let folder = Folder::with_plan(PLAN);
    let [authority, other] = [(); 2].map(|()| {
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(DnType::CommonName, "authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
    });
    let write = |name: &str, text: &str| {
        fs::write(folder.path(name), text).unwrap();
        fs::set_permissions(folder.path(name), PermissionsExt::from_mode(0o600)).unwrap();
    };
    write("ca.pem", &authority.pem());
    for (file, name, issuer) in [
        ("server", "localhost", &authority),
        ("media", "media.example", &authority),
        ("stranger", "stranger.example", &authority),
        ("forged", "media.example", &other),
    ] {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([name.to_string()]).unwrap();
        write(&format!("{file}.pem"), &params.signed_by(&key, issuer).unwrap().pem());
        write(&format!("{file}.key"), &key.serialize_pem());
    }
    write(
        "clients.toml",
        &format!(
            "[tls]\ncertificate = 'server.pem'\nkey = 'server.key'\nclients = 'ca.pem'\n\
             [client.media]\ndns-name = 'media.example'\n\
             [client.studio]\ntoken = '{TOKEN}'\n"
        ),
    );
    folder
}

/// How curl ends with an order, and more arguments.
fn curl(link: &Link, folder: &Folder, url: &str, more: &[&str]) -> Output {
    let order = call("call", "8ms").to_string();
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--show-error", "--max-time", "20", "--write-out", "\n%{http_code}"]);
    curl.args(["--cacert", "ca.pem", "--data", &order, url]).args(more);
    curl.current_dir(folder.path(""));
    link.between.run(|| curl.output().unwrap()).unwrap()
}

/// What is answered over TLS: the status and the body.
fn answer(link: &Link, folder: &Folder, more: &[&str]) -> (u16, String) {
    let output = curl(link, folder, "https://localhost:9465/reservations", more);
    assert!(output.status.success(), "{more:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let (body, status) = text.rsplit_once('\n').unwrap();
    (status.parse().unwrap(), body.to_string())
}

#[test]
fn a_client_orders_with_its_certificate_or_its_token() {
    if !are_there(&["curl"]) {
        return;
    }
    let folder = folder();
    let control = ["--control", "s"];
    let Some(link) = Link::start(&folder, &[&control[..], &ORDERS].concat()) else { return };
    let media = ["--cert", "media.pem", "--key", "media.key"];
    let bearer = format!("Authorization: Bearer {TOKEN}");
    for more in [&media[..], &["--header", &bearer]] {
        let (status, body) = answer(&link, &folder, more);
        let granted: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((status, &granted["answer"]), (200, &"granted".into()), "{body}");
    }
    for more in [&[][..], &["--cert", "stranger.pem", "--key", "stranger.key"]] {
        let (status, body) = answer(&link, &folder, more);
        assert!(status == 401 && body.contains("certificate"), "{body}");
    }
    let forged = ["--cert", "forged.pem", "--key", "forged.key"];
    for (url, more) in [
        ("https://localhost:9465/reservations", &forged[..]),
        ("http://localhost:9465/reservations", &["--header", &bearer]),
    ] {
        let output = curl(&link, &folder, url, more);
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success() && printed.ends_with("\n000"), "{printed}");
    }
    let listed = folder.laxity(&["reservations", "--control", "s", "--json"]).printed(0);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let reservations = listed["reservations"].as_array().expect("a list");
    let names: Vec<_> = reservations.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["media/call", "studio/call"]);
    link.end();
}

#[test]
fn a_key_of_another_certificate_is_refused_at_the_start() {
    let folder = folder();
    fs::copy(folder.path("media.key"), folder.path("server.key")).unwrap();
    let arguments = [&["live", "plan.toml", "--in", "lo", "--out", "lo"][..], &ORDERS].concat();
    let ended = folder.laxity(&arguments);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    let expected = "server.key: it is not the key of ./server.pem";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
}
