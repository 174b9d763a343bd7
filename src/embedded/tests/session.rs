use super::{Client, Options, client, ms};
use crate::embedded::Session;

const NOAUTH: &str = "-NOAUTH Authentication required.";
const WRONGPASS: &str = "-WRONGPASS invalid username-password pair or user is disabled.";

#[test]
fn unknown_commands_are_quoted_as_redis_quotes_them() {
    let mut client = client();
    client.plays(&[
        (0, "foo", "-ERR unknown command 'foo', with args beginning with: "),
        (0, "FoO bar b", "-ERR unknown command 'FoO', with args beginning with: 'bar' 'b' "),
        (0, "", "-ERR unknown command '', with args beginning with: "),
        (0, "GET", "-ERR wrong number of arguments for 'get' command"),
        (0, "Get a b", "-ERR wrong number of arguments for 'get' command"),
        (0, "SCRIPT", "-ERR wrong number of arguments for 'script' command"),
        (0, "script foo", "-ERR unknown subcommand 'foo'. Try SCRIPT HELP."),
        (0, "SCRIPT LOAD", "-ERR wrong number of arguments for 'script|load' command"),
        (0, "CLIENT setname", "-ERR wrong number of arguments for 'client|setname' command"),
        (0, "COMMAND foo", "-ERR unknown subcommand 'foo'. Try COMMAND HELP."),
    ]);
    let (x, y) = ("x".repeat(100), "y".repeat(100));
    let reply = format!(
        "-ERR unknown command 'foo', with args beginning with: '{x}' '{}' \r\n",
        "y".repeat(25)
    );
    assert_eq!(client.at(0, &format!("foo {x} {y} z")), reply);
    let reply = client.send(ms(0), &[&[b'q'; 200], b"b\r\n:1"]);
    let name = "q".repeat(128);
    let expected = format!("-ERR unknown command '{name}', with args beginning with: 'b  :1' \r\n");
    assert_eq!(reply, expected);
}

#[test]
fn ping_and_echo_answer_what_they_are_given() {
    client().plays(&[
        (0, "PING", "+PONG"),
        (0, "ping hello", "$5\r\nhello"),
        (0, "PING a b", "-ERR wrong number of arguments for 'ping' command"),
        (0, "ECHO hello", "$5\r\nhello"),
        (0, "CLIENT SETNAME redbolt", "+OK"),
        (0, "CLIENT SETINFO lib-name redbolt", "+OK"),
    ]);
    let reply = client().send(ms(0), &[b"CLIENT", b"SETNAME", b"a b"]);
    assert!(reply.starts_with("-ERR Client names cannot contain spaces"), "{reply}");
}

#[test]
fn a_password_is_demanded_before_anything_else_happens() {
    let mut client = Client::new(Options::default().password("secret"));
    client.plays(&[
        (0, "SET k v", NOAUTH),
        (0, "PING", NOAUTH),
        (0, "foo", "-ERR unknown command 'foo', with args beginning with: "),
        (0, "GET", "-ERR wrong number of arguments for 'get' command"),
        (0, "AUTH wrong", WRONGPASS),
        (0, "AUTH user secret", WRONGPASS),
        (0, "AUTH a b c", "-ERR syntax error"),
        (0, "DBSIZE", NOAUTH),
        (0, "auth secret", "+OK"),
        (0, "DBSIZE", ":0"),
        (0, "AUTH wrong", WRONGPASS),
        (0, "DBSIZE", ":0"),
        (0, "AUTH default secret", "+OK"),
    ]);
    client.session = Session::default();
    client.plays(&[(0, "DBSIZE", NOAUTH), (0, "QUIT", "+OK")]);
    assert!(client.session.is_closing());
}

#[test]
fn a_named_user_replaces_the_default_one() {
    Client::new(Options::default().user("engine", "secret")).plays(&[
        (0, "AUTH secret", WRONGPASS),
        (0, "AUTH default secret", WRONGPASS),
        (0, "AUTH engine wrong", WRONGPASS),
        (0, "PING", NOAUTH),
        (0, "AUTH engine secret", "+OK"),
        (0, "PING", "+PONG"),
    ]);
}

#[test]
fn without_a_password_auth_is_told_so() {
    let mut client = client();
    let reply = client.at(0, "AUTH secret");
    assert!(reply.starts_with("-ERR AUTH <password> called without any password"), "{reply}");
    client.plays(&[(0, "AUTH default x", "+OK"), (0, "AUTH user x", WRONGPASS)]);
}

#[test]
fn options_never_print_the_password() {
    let options = Options::default().user("engine", "hunter2");
    let shown = format!("{options:?} {:?}", Client::new(options.clone()).master);
    assert!(shown.contains("engine") && !shown.contains("hunter2"), "{shown}");
}
