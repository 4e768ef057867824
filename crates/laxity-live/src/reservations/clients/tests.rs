use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::authority::Authority;
use super::*;

const TOKENS: [&str; 2] = ["0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"];

fn clients() -> Clients {
    let [one, other] = TOKENS;
    let text = format!(
        "[client.media]\ntoken = \"{one}\"\nreservations = 2\norders-per-second = 1\n\
         [client.media-2]\ntoken = \"{other}\"\n"
    );
    Clients { clients: file::parse(&text).unwrap().0, tls: None }
}

#[test]
fn who_has_a_token_is_known() {
    let clients = clients();
    let name = |token: &str| clients.by_token(token).map(|client| client.name.as_str());
    assert_eq!(TOKENS.map(name), [Some("media"), Some("media-2")]);
    let longer = format!("{}0", TOKENS[0]);
    for wrong in ["", &TOKENS[0][1..], &longer, "0123456789abcdef0123456789abcdeg"] {
        assert_eq!(name(wrong), None, "{wrong}");
    }
}

#[test]
fn who_is_named_in_a_certificate_is_known() {
    let names = ["media.example", "studio.example", "Desk.example"];
    let table = |name: &&str| {
        let client = name.to_lowercase().replace('.', "-");
        format!("[client.{client}]\ndns-name = '{name}'\n")
    };
    let tls = "[tls]\ncertificate = 'a'\nkey = 'b'\nclients = 'c'\n";
    let text = names.iter().map(table).fold(tls.to_string(), |text, table| text + &table);
    let clients = Clients { clients: file::parse(&text).unwrap().0, tls: None };
    let authority = Authority::new();
    for (names, client) in [
        (&["media.example"][..], Some("media-example")),
        (&["desk.Example", "other.example"], Some("desk-example")),
        (&["other.example"], None),
        (&["media.example.org", "xmedia.example", "a.media.example"], None),
        (&["10.0.0.1"], None),
        (&[], None),
        (&["media.example", "studio.example"], None),
        (&["*.example"], None),
    ] {
        let certificate = authority.identity(names).certificate();
        let found = clients.by_certificate(&certificate).map(|client| client.name.as_str());
        assert_eq!(found, client, "{names:?}");
    }
    assert!(clients.by_certificate(&CertificateDer::from(vec![0x30, 0])).is_none());
    assert!(TOKENS.iter().all(|token| clients.by_token(token).is_none()));
    assert!(clients.by_token("").is_none());
}

#[test]
fn what_is_no_file_of_clients_is_refused() {
    let [token, _] = TOKENS;
    let tls = "[tls]\ncertificate = 'a'\nkey = 'b'\n";
    let named = "dns-name = 'a.example'";
    let client = format!("[client.a]\ntoken = '{token}'\n");
    for (text, part) in [
        ("", "missing field `client`"),
        ("[client]", "names no client"),
        ("[client.a]\ntoken = \"short\"", "line 1: client a: a token has at least 32 characters"),
        (&format!("[client.\"a/b\"]\ntoken = \"{token}\""), "a name has letters"),
        (&format!("{client}quota = 3"), "unknown field `quota`"),
        (&format!("{client}orders-per-second = 0"), "at least 1"),
        (&format!("{client}[client.b]\ntoken = \"{token}\""), "line 3: client b: a has the same"),
        (
            &format!("{client}# none\n\n  [client.b]\nreservations = 1\n{tls}clients = 'c'"),
            "line 5: client b: it has neither a token nor, with [tls], the dns-name",
        ),
        (&format!("[client.a]\n{named}"), "say in [tls] who signs it"),
        (&format!("{client}{named}\n{tls}"), "line 1: client a: dns-name is that of a certificate"),
        (
            &format!(
                "{tls}clients = 'c'\n[client.a]\n{named}\n[client.b]\ndns-name = 'A.example.'"
            ),
            "line 7: client b: a has the same dns-name",
        ),
        (&format!("{tls}clients = 'c'\n[client.a]\ndns-name = '*.a'"), "dns-name is a host name"),
        (&format!("{tls}clients = 'c'\n[client.a]\ndns-name = '10.0.0.1'"), "is a host name"),
        (&format!("{client}[tls]\nkey = 'b'"), "missing field `certificate`"),
        (&format!("{client}{tls}ca = 'c'"), "unknown field `ca`"),
    ] {
        let error = file::parse(text).unwrap_err();
        assert!(error.contains(part), "{text}: {error}");
    }
}

/// A folder with a file of clients and those of `[tls]`, which only their owner may read.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Files {
        let files = Files(tempfile::tempdir().unwrap());
        let (authority, [token, _]) = (Authority::new(), TOKENS);
        let server = authority.identity(&["localhost"]);
        files.write("server.pem", &server.certificate);
        files.write("server.key", &server.key);
        files.write("ca.pem", &authority.pem());
        files.write(
            "clients.toml",
            &format!(
                "[client.a]\ntoken = '{token}'\n\
                 [tls]\ncertificate = 'server.pem'\nkey = 'server.key'\nclients = 'ca.pem'\n"
            ),
        );
        files
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
        self.allow(name, 0o600);
    }

    fn allow(&self, name: &str, mode: u32) {
        fs::set_permissions(self.0.path().join(name), PermissionsExt::from_mode(mode)).unwrap();
    }

    fn read(&self) -> Result<Clients, String> {
        Clients::read(&self.0.path().join("clients.toml")).map_err(|error| error.to_string())
    }
}

#[test]
fn a_secret_is_its_owners() {
    for secret in ["clients.toml", "server.key"] {
        let files = Files::new();
        assert!(files.read().is_ok());
        files.allow(secret, 0o640);
        let refused = files.read().unwrap_err();
        assert!(refused.contains(secret) && refused.contains("chmod 600"), "{refused}");
    }
    let files = Files::new();
    files.allow("server.pem", 0o644);
    files.allow("ca.pem", 0o644);
    assert!(files.read().is_ok());
}

#[test]
fn files_for_tls_are_checked_when_they_are_read() {
    let other = Authority::new().identity(&["localhost"]);
    let broken = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
    let encrypted = other.key.replace("PRIVATE", "ENCRYPTED PRIVATE");
    for (name, text, part) in [
        ("server.key", &*other.key, "server.key: it is not the key of "),
        ("server.pem", &*other.certificate, "server.key: it is not the key of "),
        ("server.key", "mine", "server.key: there is no private key without a password"),
        ("server.key", &encrypted, "server.key: there is no private key without a password"),
        ("server.key", &other.certificate, "server.key: there is no private key"),
        ("server.key", &broken.replace("CERTIFICATE", "PRIVATE KEY"), "server.key: "),
        ("server.pem", "", "server.pem: there is no certificate (-----BEGIN CERTIFICATE-----)"),
        ("server.pem", &broken.replace("MAA", "M?A"), "server.pem: it is not in PEM"),
        ("server.pem", broken, "server.pem: "),
        ("ca.pem", &other.key, "ca.pem: there is no certificate"),
        ("ca.pem", broken, "ca.pem: "),
    ] {
        let files = Files::new();
        files.write(name, text);
        let refused = files.read().unwrap_err();
        assert!(refused.contains(part) && refused.lines().count() == 1, "{name}: {refused}");
    }
    for name in ["server.key", "server.pem", "ca.pem"] {
        let files = Files::new();
        fs::remove_file(files.0.path().join(name)).unwrap();
        let refused = files.read().unwrap_err();
        assert!(refused.contains(name) && refused.contains("No such file"), "{refused}");
    }
}

#[test]
fn a_client_has_names_of_its_own() {
    let clients = clients();
    let [one, other] = TOKENS.map(|token| clients.by_token(token).unwrap());
    let Order::Release { name } = one.order(Order::Release { name: "call".into() }) else {
        panic!("it is what it was");
    };
    assert_eq!(
        (name.as_str(), one.own(&name), other.own(&name)),
        ("media/call", Some("call"), None)
    );
    assert_eq!(one.own("media-2/call"), None);
}

#[test]
fn orders_come_at_the_rate_that_is_allowed() {
    let mut allowance = Allowance::new(10);
    let begin = allowance.at;
    for _ in 0..20 {
        allowance.take(begin).unwrap();
    }
    let wait = allowance.take(begin).unwrap_err();
    assert!(wait > Duration::from_millis(90) && wait <= Duration::from_millis(100), "{wait:?}");
    allowance.take(begin + Duration::from_millis(101)).unwrap();
    assert!(allowance.take(begin + Duration::from_millis(150)).is_err());
    let later = begin + Duration::from_secs(3600);
    let taken = std::iter::repeat_with(|| allowance.take(later)).take_while(Result::is_ok);
    assert_eq!(taken.count(), 20);
}
