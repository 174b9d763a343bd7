//! What the servers' own compare commands do, and that the engine uses them where it should.

use crate::place::Place;
use crate::support::flavours::Flavour;
use crate::support::servers::Node;
use crate::support::wire::Reply;
use crate::{LONGER, SHORTER, hold_all, names, owner};

fn is_wrong_type(reply: &Reply) -> bool {
    // Redis has words of its own for `DELEX`.
    let is = |text: &String| text.starts_with("WRONGTYPE") || text.contains("be of string type");
    matches!(reply, Reply::Error(text) if is(text))
}

/// How often the server has executed what the engine may send.
fn counts(node: &Node) -> [u64; 5] {
    ["set", "delifeq", "delex", "evalsha", "eval"].map(|command| node.calls(command))
}

/// The handshake reads capabilities off `COMMAND INFO`, never off a version.
#[test]
fn a_server_tells_which_compare_commands_it_has() {
    for flavour in Flavour::all() {
        let node = flavour.start();
        let Reply::Array(entries) = node.command(&[b"COMMAND", b"INFO", b"DELIFEQ", b"DELEX"])
        else {
            panic!("not an array")
        };
        let known = ["DELIFEQ", "DELEX"].into_iter().zip(entries);
        let known = known.filter(|(_, entry)| *entry != Reply::Null);
        let known: Vec<_> = known.map(|(name, _)| name).collect();
        assert_eq!(known, Vec::from_iter(flavour.native), "{}", flavour.name);
    }
}

#[test]
fn a_native_release_compares_and_answers_as_a_script_would() {
    for flavour in Flavour::all() {
        let Some(native) = flavour.native else { continue };
        let node = flavour.start();
        let delete = || match native {
            "DELIFEQ" => node.command(&[b"DELIFEQ", b"key", b"token"]),
            _ => node.command(&[b"DELEX", b"key", b"IFEQ", b"token"]),
        };
        assert_eq!(delete(), Reply::Integer(0));
        node.set_px(b"key", b"foreign", LONGER);
        assert_eq!(delete(), Reply::Integer(0));
        assert_eq!(node.get(b"key").as_deref(), Some(&b"foreign"[..]));
        node.set_px(b"key", b"token", LONGER);
        assert_eq!(delete(), Reply::Integer(1));
        node.command(&[b"RPUSH", b"key", b"data"]);
        assert!(is_wrong_type(&delete()));
        assert_eq!(node.keys(), [b"key"]);
    }
}

/// One key alone goes natively where that can be, a group by script.
#[test]
fn the_engine_uses_native_commands_where_it_should_and_scripts_where_it_should_not() {
    const ROUNDS: u64 = 10;
    for flavour in Place::all() {
        let node = flavour.start();
        let mut owner = owner([&node]);
        let alone = |native: &str| if flavour.native == Some(native) { ROUNDS } else { 0 };
        let (delifeq, delex) = (alone("DELIFEQ"), alone("DELEX"));
        for _ in 0..ROUNDS {
            let lock = owner.hold("resource");
            owner.extend_for(lock, LONGER);
            owner.extended();
            owner.extend_for(lock, SHORTER);
            owner.extended();
            owner.let_go(lock);
        }
        // An extension never is native: it could shorten a ttl.
        let scripts = 3 * ROUNDS - delifeq - delex;
        assert_eq!(counts(&node), [ROUNDS, delifeq, delex, scripts, 0], "{}", flavour.name);

        let locks = hold_all(&mut owner, &names(64));
        locks.iter().for_each(|lock| owner.extend_for(*lock, LONGER));
        locks.iter().for_each(|_| owner.extended());
        locks.iter().for_each(|lock| owner.release(*lock));
        locks.iter().for_each(|_| _ = owner.released());
        assert_eq!(counts(&node), [ROUNDS + 64, delifeq, delex, scripts + 2, 0]);
        owner.finish([&node]);
    }
}

/// `SET … IFEQ` of Redis 8.6.3, which would do for an extension, looks its key up twice. The second
/// look moves a part of a table that is shrinking, and the first result may then be the place of
/// another key, which is overwritten. So many rounds meet it every time.
#[test]
fn extensions_harm_no_other_lock() {
    for flavour in Flavour::all().iter().filter(|flavour| flavour.native.is_some()) {
        let node = flavour.start();
        let mut owner = owner([&node]);
        for round in 0..100 {
            let resources: Vec<_> = (0..256).map(|number| format!("{round}:{number}")).collect();
            let mut locks = hold_all(&mut owner, &resources);
            // The table shrinks once an eighth of it is left.
            locks.drain(31..).for_each(|lock| owner.release(lock));
            resources[31..].iter().for_each(|_| _ = owner.released());
            for lock in &locks {
                owner.extend_for(*lock, LONGER);
                owner.extended();
            }
            for lock in locks {
                let outcome = owner.let_go(lock);
                assert_eq!(outcome.released.len(), 1, "on {}: {outcome:?}", flavour.name);
            }
        }
        owner.finish([&node]);
    }
}
