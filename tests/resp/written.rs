//! What a real server writes, and what the parser makes of these bytes.
//!
//! Built-in commands keep to the grammar of `redbolt::resp`. A script gets written what the script
//! asks for. Big numbers and doubles from scripts exist since Redis 7.0.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use bytes::BytesMut;
use redbolt::resp::{self, Error, MAX_DEPTH, MAX_LINE, Status, Value};

use crate::support::servers::Node;

/// Longer than a reply takes, shorter than a test may hang.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection that speaks RESP3 and returns replies as they came.
struct Raw(TcpStream);

impl Raw {
    /// Connects, or returns `None` if the server has no RESP3 replies of scripts.
    fn connect(node: &Node) -> Option<Self> {
        let version = node.info("redis_version").expect("every server has a version");
        let major: u32 = version.split('.').next().and_then(|major| major.parse().ok())?;
        if major < 7 {
            eprintln!("left out: {version} knows no big numbers in scripts");
            return None;
        }
        let socket = TcpStream::connect(node.addr()).expect("the server runs");
        socket.set_read_timeout(Some(PATIENCE)).expect("a timeout that is not zero");
        let mut raw = Self(socket);
        assert!(raw.call(&[b"HELLO", b"3"]).starts_with(b"%"));
        Some(raw)
    }

    /// Returns the bytes of the reply to this command. A `PING` behind marks their end.
    fn call(&mut self, command: &[&[u8]]) -> Vec<u8> {
        const END: &[u8] = b"+PONG\r\n";
        let mut request = BytesMut::new();
        resp::command(&mut request, command);
        resp::command(&mut request, &[b"PING"]);
        self.0.write_all(&request).expect("the server reads");
        let (mut reply, mut piece) = (Vec::new(), [0; 4096]);
        while !reply.ends_with(END) {
            let len = self.0.read(&mut piece).expect("the server answers in time");
            assert!(len > 0, "the server hung up after {:?}", reply.escape_ascii());
            reply.extend_from_slice(&piece[..len]);
        }
        reply.truncate(reply.len() - END.len());
        reply
    }

    /// Returns the bytes that a script makes the server write.
    fn script(&mut self, script: &str) -> Vec<u8> {
        let script = format!("redis.setresp(3); return {script}");
        self.call(&[b"EVAL", script.as_bytes(), b"0"])
    }
}

/// Returns the only value of these bytes.
fn whole(bytes: &[u8]) -> Result<Value<'_>, Error> {
    match resp::parse(bytes)? {
        Status::Complete((value, len)) if len == bytes.len() => Ok(value),
        status => panic!("{} is {status:?}", bytes.escape_ascii()),
    }
}

#[test]
fn numbers_of_scripts_are_read_as_the_server_writes_them() {
    let node = Node::start();
    let Some(mut raw) = Raw::connect(&node) else { return };
    for (script, written, expected) in [
        ("{big_number='5'}", &b"(5\r\n"[..], Value::BigNumber(b"5")),
        ("{big_number='+5'}", b"(+5\r\n", Value::BigNumber(b"+5")),
        ("{big_number='-0'}", b"(-0\r\n", Value::BigNumber(b"-0")),
        ("{big_number='007'}", b"(007\r\n", Value::BigNumber(b"007")),
        ("{double=3}", b",3\r\n", Value::Double(3.0)),
        ("{double=-0.5}", b",-0.5\r\n", Value::Double(-0.5)),
        ("{double=1e17}", b",1e+17\r\n", Value::Double(1e17)),
        ("{double=1/0}", b",inf\r\n", Value::Double(f64::INFINITY)),
        ("{double=-1/0}", b",-inf\r\n", Value::Double(f64::NEG_INFINITY)),
    ] {
        let bytes = raw.script(script);
        assert_eq!(bytes.escape_ascii().to_string(), written.escape_ascii().to_string());
        assert_eq!(whole(&bytes), Ok(expected), "{script}");
    }
    // Versions differ in how they spell these.
    for script in ["{double=1e300}", "{double=1e-7}", "{double=0/0}", "{double=-(0/0)}"] {
        let bytes = raw.script(script);
        let value = whole(&bytes);
        assert!(matches!(value, Ok(Value::Double(_))), "{}", bytes.escape_ascii());
    }
}

#[test]
fn a_big_number_without_digits_is_written_by_a_server_and_refused() {
    let node = Node::start();
    let Some(mut raw) = Raw::connect(&node) else { return };
    for (script, written) in [
        ("{big_number='abc'}", &b"(abc\r\n"[..]),
        ("{big_number=''}", b"(\r\n"),
        ("{big_number='1\\r\\n2'}", b"(1  2\r\n"),
    ] {
        let bytes = raw.script(script);
        assert_eq!(bytes.escape_ascii().to_string(), written.escape_ascii().to_string());
        assert_eq!(whole(&bytes), Err(Error::BigNumber), "{script}");
    }
}

#[test]
fn texts_sets_and_maps_of_scripts_are_read() {
    let node = Node::start();
    let Some(mut raw) = Raw::connect(&node) else { return };
    // The server fills a short format with spaces, cuts a long one, and cleans a line of CR LF.
    for (script, written) in [
        ("{verbatim_string={format='x',string='abc'}}", &b"=7\r\nx  :abc\r\n"[..]),
        ("{verbatim_string={format='long',string='abc'}}", b"=7\r\nlon:abc\r\n"),
        ("{ok='a\\r\\nb'}", b"+a  b\r\n"),
        ("{{err='x'},{ok='y'}}", b"*2\r\n-x\r\n+y\r\n"),
        ("{1,false,true}", b"*3\r\n:1\r\n#f\r\n#t\r\n"),
        ("{map={[1]={set={}}}}", b"%1\r\n:1\r\n~0\r\n"),
        ("{set={[{1}]=true}}", b"~1\r\n*1\r\n:1\r\n"),
        ("nil", b"_\r\n"),
    ] {
        let bytes = raw.script(script);
        assert_eq!(bytes.escape_ascii().to_string(), written.escape_ascii().to_string());
        assert!(whole(&bytes).is_ok(), "{script}");
    }
}

#[test]
fn a_script_can_write_lines_and_depths_beyond_the_limits() {
    let node = Node::start();
    let Some(mut raw) = Raw::connect(&node) else { return };
    for kind in ["ok", "big_number"] {
        let line = |len: usize| format!("{{{kind}=string.rep('7',{len})}}");
        assert!(whole(&raw.script(&line(MAX_LINE))).is_ok());
        let bytes = raw.script(&line(70_000));
        assert_eq!(bytes.len(), 1 + 70_000 + 2);
        assert_eq!(whole(&bytes), Err(Error::TooLong));
    }
    let nested = |depth: usize| {
        format!("(function() local t={{}} for i=2,{depth} do t={{t}} end return t end)()")
    };
    assert!(whole(&raw.script(&nested(MAX_DEPTH))).is_ok());
    for depth in [MAX_DEPTH + 1, 40, 5_000] {
        let bytes = raw.script(&nested(depth));
        assert_eq!(bytes, [b"*1\r\n".repeat(depth - 1), b"*0\r\n".to_vec()].concat());
        assert_eq!(whole(&bytes), Err(Error::TooDeep));
    }
}
