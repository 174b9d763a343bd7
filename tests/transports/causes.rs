//! What is wrong with the TLS of a node: its cause is told, a minority costs its nodes, and a
//! majority the lock.

use std::fs;
use std::io::ErrorKind;
use std::time::Duration;

use redbolt::redlock::{NodeError, TlsError, TlsFileError};
use redbolt::{Client, Config};

use super::certificates::{Authority, Claim, Identity, LOCAL};
use super::relay::Relay;
use super::secure::{Secure, urls};
use super::{PATIENCE, TTL, config, redbolt};
use crate::support::fake::{Action, Fake};
use crate::support::until;

/// Three good nodes. The bad ones take the places of some.
struct World {
    authority: Authority,
    good: Vec<Secure>,
}

impl World {
    fn new() -> Self {
        let authority = Authority::new();
        let good = Secure::cluster(&authority, 3);
        redbolt(&urls(&good, &authority), &["init", "--fresh"]).expect(0);
        Self { authority, good }
    }

    fn url(&self, addr: &str) -> String {
        format!("rediss://{addr}?ca={}", self.authority.ca())
    }

    /// Asserts that a node at `bad` has this cause, as one of three and as two of three. `remedy`
    /// is a piece of what `check` advises.
    fn assert_told(&self, bad: &str, cause: TlsError, remedy: &str) {
        use TlsError as Tls;
        let is_of_connection =
            matches!(cause, Tls::NotTls | Tls::TlsWanted | Tls::HandshakeTimeout | Tls::Protocol);
        let has_word = cause.to_string().contains("certificate");
        assert_ne!(is_of_connection, has_word, "{cause}");
        self.assert_any(bad, &[NodeError::Tls(cause)], remedy);
    }

    /// The same, where chance decides between some causes.
    fn assert_any(&self, bad: &str, causes: &[NodeError], remedy: &str) {
        let is_cause = |error: Option<NodeError>| error.is_some_and(|one| causes.contains(&one));
        let texts: Vec<_> = causes.iter().map(NodeError::to_string).collect();
        let is_in = |said: &str| texts.iter().any(|text| said.contains(text));
        let [first, second, _] = &urls(&self.good, &self.authority)[..] else {
            panic!("three nodes")
        };
        // A minority costs its node, which is tried again and again.
        let nodes = [first.clone(), second.clone(), bad.to_owned()];
        let client = Client::new(impatient(&nodes)).expect("a client can be made");
        let guard = client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire();
        drop(guard.expect("two of three are enough"));
        let state = || client.nodes().blocking_wait().expect("the client runs").remove(2);
        let is_told = || is_cause(state().error) && state().counters.failures >= 2;
        assert!(until(PATIENCE, is_told), "{bad}: {:?}, none of {causes:?}", state());
        let check = redbolt(&nodes, &["check"]).expect(1).text();
        let said = check.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(is_in(&said), "{texts:?}: {said}");
        assert!(said.contains(remedy), "{said}");
        // The command runs, and its exit code is that of `exec`.
        let command = ["exec", "--wait", "20s", "b", "--", "sh", "-c", "echo done; exit 7"];
        assert_eq!(redbolt(&nodes, &command).expect(7).out, "done\n");
        // A majority costs the lock. The same server under its other name has the same cause.
        let other = bad.replacen("127.0.0.1", "localhost", 1);
        let nodes = [first.clone(), bad.to_owned(), other];
        let failed = redbolt(&nodes, &["exec", "--wait", "4s", "a", "--", "echo"]).expect(69);
        assert_eq!(failed.out, "", "the command was run");
        for node in &nodes[1..] {
            let place = node.split('?').next().unwrap_or(node);
            let is_told = |line: &str| line.contains(place) && is_in(line);
            assert!(failed.err.lines().any(is_told), "{place}, {texts:?}: {}", failed.err);
        }
    }
}

/// A configuration whose handshakes end soon.
fn impatient(nodes: &[String]) -> Config {
    let mut config = config(nodes);
    config.redlock.connect_timeout = Duration::from_millis(300);
    config.redlock.reconnect_max = Duration::from_millis(50);
    config
}

#[test]
fn a_certificate_of_an_unknown_ca_is_told() {
    let world = World::new();
    let other = Authority::new();
    let server = Secure::start(&other, &other.sign("server", &LOCAL), "no");
    world.assert_told(&world.url(&server.addr()), TlsError::UnknownCa, "ca=");
}

#[test]
fn a_certificate_that_has_expired_is_told() {
    let world = World::new();
    let claim = Claim { years: [2020, 2021], ..LOCAL };
    let identity = world.authority.sign("expired", &claim);
    let server = Secure::start(&world.authority, &identity, "no");
    world.assert_told(&world.url(&server.addr()), TlsError::Expired, "(on 2021-01-01)");
}

#[test]
fn a_certificate_that_is_not_valid_yet_is_told() {
    let world = World::new();
    let claim = Claim { years: [2199, 2200], ..LOCAL };
    let identity = world.authority.sign("early", &claim);
    let server = Secure::start(&world.authority, &identity, "no");
    world.assert_told(&world.url(&server.addr()), TlsError::NotYetValid, "2199-01-01");
}

#[test]
fn a_certificate_for_another_name_is_told_with_both_names() {
    let world = World::new();
    let claim = Claim { names: &["db1.example", "db2.example"], ..LOCAL };
    let identity = world.authority.sign("other", &claim);
    let server = Secure::start(&world.authority, &identity, "no");
    let url = world.url(&server.addr());
    world.assert_told(&url, TlsError::WrongName, "server_name=");
    world.assert_told(&url, TlsError::WrongName, "(not 127.0.0.1, but db1.example, db2.example)");
    let nodes = [format!("{url}&server_name=db2.example")];
    redbolt(&nodes, &["init", "--fresh"]).expect(0);
}

#[test]
fn a_certificate_of_ours_that_the_server_wants_is_told() {
    let world = World::new();
    let identity = world.authority.sign("strict", &LOCAL);
    let server = Secure::start(&world.authority, &identity, "yes");
    world.assert_told(&world.url(&server.addr()), TlsError::CertificateWanted, "cert=");
}

#[test]
fn a_certificate_of_ours_that_the_server_refuses_is_told() {
    let world = World::new();
    let identity = world.authority.sign("strict", &LOCAL);
    let server = Secure::start(&world.authority, &identity, "yes");
    let other = Authority::new();
    let Identity { cert, key } = other.sign("ours", &LOCAL);
    let url = format!("{}&cert={cert}&key={key}", world.url(&server.addr()));
    world.assert_told(&url, TlsError::CertificateRefused, "tls-ca-cert-file");
}

#[test]
fn files_that_cannot_be_used_are_told_with_their_paths() {
    let world = World::new();
    let addr = world.good[2].addr();
    let ours = world.authority.sign("ours", &LOCAL);
    let other = world.authority.sign("other", &LOCAL);
    let ca = world.authority.ca();
    let url = |settings: &str| format!("rediss://{addr}?{settings}");
    let missing = TlsFileError::Io(ErrorKind::NotFound);
    let unfit = TlsFileError::Io(ErrorKind::InvalidData);
    let rows = [
        (url("ca=/gone.pem"), TlsError::CaFile(missing), "(/gone.pem)"),
        (
            url(&format!("ca={ca}&cert=/gone.pem&key={}", ours.key)),
            TlsError::CertFile(missing),
            "(/gone.pem)",
        ),
        (
            url(&format!("ca={ca}&cert={}&key=/gone.key", ours.cert)),
            TlsError::KeyFile(missing),
            "(/gone.key)",
        ),
        (url(&format!("ca={}", ours.key)), TlsError::CaFile(unfit), "no certificate in PEM"),
        (
            url(&format!("ca={ca}&cert={}&key={}", ours.cert, other.key)),
            TlsError::OwnCertificate,
            "ours.pem",
        ),
    ];
    for (url, cause, detail) in rows {
        world.assert_told(&url, cause, detail);
    }
}

/// What the file of a key has in it is nobody's business. So no byte of a bad file is shown.
#[test]
fn a_file_that_is_not_quite_in_pem_is_told_without_its_bytes() {
    let world = World::new();
    let addr = world.good[2].addr();
    let ours = world.authority.sign("ours", &LOCAL);
    let key = fs::read_to_string(&ours.key).expect("the folder is ours");
    let ca = world.authority.ca();
    let (trusted, untrusted) = (format!("ca={ca}&cert={}&key=", ours.cert), "ca=".to_owned());
    let cut = key.split("-----END").next().expect("there is a beginning");
    let rows = [
        (&trusted, cut.to_owned(), "a section in PEM has no end"),
        (&trusted, key.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY"), "the key is encrypted"),
        (&trusted, key.replace("\n-----END", "!\n-----END"), "a section in PEM that is not base64"),
        (&trusted, key.replacen("KEY-----", "KEY", 1), "a line that begins no section in PEM"),
        (&trusted, String::new(), "no key in PEM"),
        (&untrusted, cut.to_owned(), "a section in PEM has no end"),
    ];
    for (settings, text, detail) in rows {
        fs::write(&ours.key, text).expect("the folder is ours");
        let nodes = [format!("rediss://{addr}?{settings}{}", ours.key)];
        let failed = redbolt(&nodes, &["check"]).expect(69).text();
        let said = failed.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(&format!("{}: {detail}", ours.key)), "{said}");
    }
}

/// A server that sends what no honest one needs speaks TLS all the same.
#[test]
fn a_server_with_too_many_certificates_is_told() {
    let world = World::new();
    let identity = world.authority.sign("long", &LOCAL);
    let [cert, ca] = [identity.cert.clone(), world.authority.ca()];
    let [cert, ca] = [cert, ca].map(|path| fs::read_to_string(path).expect("the folder is ours"));
    let chain = cert + &ca.repeat(64 * 1024 * 2 / ca.len());
    fs::write(&identity.cert, chain).expect("the folder is ours");
    let server = Secure::start(&world.authority, &identity, "no");
    world.assert_told(&world.url(&server.addr()), TlsError::Protocol, "longer than 64 KiB");
}

/// A server without TLS waits for the end of a line, or complains, as chance has put an end of a
/// line into the random bytes of our first message, or not.
#[test]
fn tls_at_a_port_without_tls_is_told() {
    let world = World::new();
    let url = world.url(&world.good[2].node.addr());
    let causes = [TlsError::NotTls, TlsError::HandshakeTimeout].map(NodeError::Tls);
    world.assert_any(&url, &causes, "tls-port");
    let nodes = [url.clone()];
    let client = Client::new(impatient(&nodes)).expect("a client can be made");
    let state = || client.nodes().blocking_wait().expect("the client runs").remove(0);
    let is_told = || {
        use TlsError::{HandshakeTimeout, NotTls};
        matches!(state().error, Some(NodeError::Tls(NotTls | HandshakeTimeout)))
    };
    assert!(until(PATIENCE, is_told), "{:?}", state());
    let check = redbolt(&nodes, &["check"]).expect(69).text();
    assert!(check.contains("TLS"), "{check}");
}

#[test]
fn no_tls_at_a_port_with_tls_is_told() {
    let world = World::new();
    // As chance has it, our bytes are unread when the server closes.
    let causes = [NodeError::Closed, NodeError::Io(ErrorKind::ConnectionReset)];
    world.assert_any(&world.good[2].addr(), &causes, "rediss://");
    let nodes = [world.good[0].addr(), world.good[1].addr(), world.good[2].addr()];
    let failed = redbolt(&nodes, &["exec", "--wait", "2s", "a", "--", "true"]).expect(69).err;
    let hint = "(before any answer: does the port want TLS, rediss://?)";
    assert!(failed.matches(hint).count() >= 3, "{failed}");
    let check = redbolt(&nodes, &["check"]).expect(69).text();
    assert!(check.contains("rediss://"), "{check}");
}

/// Some servers answer with an alert, and others close.
#[test]
fn an_alert_at_an_address_without_tls_is_told() {
    let world = World::new();
    let alert = b"\x15\x03\x01\x00\x02\x02\x0a".to_vec();
    let fake = Fake::scripted(move |_| Action::Reply(alert.clone()));
    world.assert_told(&fake.addr(), TlsError::TlsWanted, "rediss://");
}

#[test]
fn a_handshake_that_hangs_ends_in_time() {
    let world = World::new();
    let mute = Relay::mute();
    world.assert_told(&world.url(mute.addr()), TlsError::HandshakeTimeout, "TLS");
}

/// FAULTS 2: the deadline is that of the whole handshake.
#[test]
fn a_handshake_that_drips_ends_in_time() {
    let world = World::new();
    let relay = Relay::start(&world.good[2].addr(), Duration::from_millis(100));
    world.assert_told(&world.url(relay.addr()), TlsError::HandshakeTimeout, "TLS");
}
