use super::*;

#[test]
fn errors_fall_into_their_classes() {
    use ServerError::*;
    let rows: [(&str, ServerError); 32] = [
        ("NOSCRIPT No matching script. Please use EVAL.", NoScript),
        ("OOM command not allowed when used memory > 'maxmemory'.", Overloaded),
        ("MISCONF Redis is configured to save RDB snapshots", Overloaded),
        ("NOREPLICAS Not enough good replicas to write.", Overloaded),
        ("BUSY Redis is busy running a script.", Overloaded),
        ("LOADING Redis is loading the dataset in memory", NotServing),
        ("READONLY You can't write against a read only replica.", NotServing),
        ("MASTERDOWN Link with MASTER is down", NotServing),
        ("NOAUTH Authentication required.", Denied),
        ("WRONGPASS invalid username-password pair or user is disabled.", Denied),
        ("NOPERM this user has no permissions to run the 'set' command", Denied),
        ("NOPERM this user has no permissions to access one of the keys", KeyDenied),
        ("NOPERM No permissions to access a key", KeyDenied),
        ("ERR The user executing the script can't run this command or subcommand", ScriptDenied),
        (
            "ERR Error running script (call to f_0): @user_script:1: @user_script: 1: The user \
             executing the script can't run this command or subcommand",
            ScriptDenied,
        ),
        (
            "ERR ACL failure in script: User a has no permissions to run the 'get' command",
            ScriptDenied,
        ),
        ("ERR ACL failure in script: No permissions to access a key", Other),
        ("ERR The user executing the script can't access at least one of the keys", Other),
        ("DENIED Redis is running in protected mode", Denied),
        ("-DENIED Redis is running in protected mode", Denied),
        ("ERR operation not permitted", Denied),
        ("MOVED 3999 127.0.0.1:6381", Cluster),
        ("ASK 3999 127.0.0.1:6381", Cluster),
        ("CLUSTERDOWN Hash slot not served", Cluster),
        ("CROSSSLOT Keys in request don't hash to the same slot", Cluster),
        ("WRONGTYPE Operation against a key holding the wrong kind", WrongType),
        ("ERR Key should be of string type if conditions are specified", WrongType),
        ("ERR unknown command 'SET', with args beginning with:", Unsupported),
        ("ERR Syntax error", Unsupported),
        ("ERR max number of clients reached", Overloaded),
        ("ERR", Other),
        ("", Other),
    ];
    for (text, class) in rows {
        assert_eq!(ServerError::classify(text.as_bytes()), class, "{text}");
    }
}

#[test]
fn a_complaint_is_read_from_the_words_of_every_version() {
    use Complaint::*;
    let rows: [(&str, Option<Complaint>); 19] = [
        ("NOAUTH Authentication required.", Some(LoginMissing)),
        ("ERR operation not permitted", Some(LoginMissing)),
        ("WRONGPASS invalid username-password pair or user is disabled.", Some(LoginWrong)),
        ("ERR invalid password", Some(LoginWrong)),
        (
            "ERR AUTH <password> called without any password configured for the default user.",
            Some(LoginUnwanted),
        ),
        ("ERR Client sent AUTH, but no password is set", Some(LoginUnwanted)),
        ("ERR DB index is out of range", Some(DatabaseUnknown)),
        ("ERR invalid DB index", Some(DatabaseUnknown)),
        ("DENIED Redis is running in protected mode", Some(ProtectedMode)),
        ("-DENIED Redis is running in protected mode", Some(ProtectedMode)),
        ("OOM command not allowed when used memory > 'maxmemory'.", Some(MemoryFull)),
        ("MISCONF Valkey is configured to save RDB snapshots", Some(PersistenceBroken)),
        ("NOREPLICAS Not enough good replicas to write.", Some(ReplicasMissing)),
        ("ERR max number of clients reached", Some(ClientsFull)),
        ("BUSY Redis is busy running a script.", Some(ScriptHangs)),
        ("NOPERM User a has no permissions to run the 'get' command", None),
        ("ERR unknown command 'AUTH'", None),
        ("ERR", None),
        ("", None),
    ];
    for (text, complaint) in rows {
        assert_eq!(Complaint::read(text.as_bytes()), complaint, "{text}");
    }
}
