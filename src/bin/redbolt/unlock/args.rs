//! The command line of `redbolt unlock`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use redbolt::Unlock;
use redbolt::redlock::StoredValue;

use crate::failure::Failure;
use crate::settings::{self, NodeArgs};

/// Shown below the options by `-h`.
const AFTER: &str = "\
Examples:
  redbolt unlock --nodes db1,db2,db3 r --token @token
  redbolt who --json r | jq -r .resources[0].holder.token |
    redbolt unlock r --token -

The holder goes on until its validity ends or its next extension, which is
refused. --help has all details, and the exit codes.";

/// Shown below the options by `--help`.
const AFTER_LONG: &str = "\
Examples:
  umask 077
  redbolt who --json r | jq -r .resources[0].holder.token > token
  redbolt unlock --nodes db1,db2,db3 r --token @token
  redbolt who --json r | jq -r .resources[0].holder.token |
    redbolt unlock r --token -

Deletes the token on every node that answers, wherever exactly this token stands, with or without a
ttl. Another value, data of another type, and the lock of whoever was faster are left alone. A line
for each node says what was done.

Others can have the lock at once, but its holder is not asked. A client of redbolt believes in the
lock until its validity ends, or until its next extension: that is refused, and the client is told
that the lock is lost (redbolt exec kills its command then). A client of another library may look
less often, or never. Whoever must be sure that the holder has stopped, stops it, or waits for the
ttl that redbolt who shows.

Where fewer than a quorum of the nodes answer, the lock is deleted on these and may be held still:
its holder may even give it back to them. Repeat the command once the others are there.

Settings are also read from variables and from the file of --config, as the library documents them
at Config::from_env. The user of the nodes needs the rights of locks: +info +eval +get +del.

Exit codes:
  0    a quorum of the nodes does not have the token any more: it was deleted, or had gone before
  64   the command line, or a value in it, cannot be used
  69   too few nodes have answered: the lock may be held still
  70   something in this program or the system failed
  75   another value, or other data, stands on too many nodes, or the holder gives the token
       back to the nodes: stop the holder, or repeat the command";

const TOKEN: &str = "The token of the lock, in hex: HEX, @FILE, or - for standard input";
const TOKEN_LONG: &str = "\
The token of the lock, whole, in hex digits, as redbolt who --json shows it and
REDBOLT_TOKEN has it; @FILE for a file with the digits on one line, which must not be open
to others (chmod o=); or - for standard input. Everybody can see arguments, and whoever
has a token can end its lock";

/// Continues `--token` where the pipe from `redbolt who` had no token to give.
const NO_HOLDER: &str = " is null: redbolt who has named no holder, because nobody holds the lock \
                         or too few nodes have answered";

#[derive(clap::Args)]
#[command(after_help = AFTER, after_long_help = AFTER_LONG)]
pub(crate) struct Args {
    #[command(flatten)]
    nodes: NodeArgs,

    #[arg(long, value_name = "TOKEN", required = true, help = TOKEN, long_help = TOKEN_LONG)]
    #[arg(allow_hyphen_values = true)]
    token: OsString,

    /// What to unlock: the name of the lock, byte for byte
    pub(super) resource: OsString,
}

impl Args {
    /// Returns what is to be done, by the options, the variables and the file.
    pub(super) fn unlock(self) -> Result<Unlock, Failure> {
        let config = self.nodes.required()?;
        let token = token(&self.token).map_err(|error| format!("--token{error}"));
        let token = token.map_err(Failure::usage)?;
        Ok(Unlock::new(config, self.resource.into_vec(), token))
    }
}

/// Reads the token. The error continues `--token`, and shows nothing of the token.
fn token(given: &OsStr) -> Result<StoredValue, String> {
    let of_file = |path| settings::token(path).map_err(|error| format!(": {error}"));
    let hex = match given.as_bytes() {
        b"" => return Err(" is empty".to_owned()),
        b"@" => return Err(": a file is needed behind the @".to_owned()),
        b"-" => of_file(None)?,
        [b'@', path @ ..] => of_file(Some(Path::new(OsStr::from_bytes(path))))?,
        hex => String::from_utf8_lossy(hex).into_owned(),
    };
    // What `jq` makes of an answer without a holder.
    if hex == "null" {
        return Err(NO_HOLDER.to_owned());
    }
    let most = StoredValue::MAX_LEN;
    if hex.len() > 2 * most {
        return Err(format!(" has more than {most} bytes, which no lock has"));
    }
    let hint = " is not hex digits, two for each byte, as redbolt who --json has them";
    StoredValue::from_hex(&hex).ok_or_else(|| hint.to_owned())
}
