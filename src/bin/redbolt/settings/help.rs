//! The help of the options that all commands have: one line for `-h`, and the whole for `--help`,
//! which indents the text of an option by ten columns.

pub(super) const NODES: &str = "The nodes: HOST:PORT,HOST:PORT,… or @FILE";
pub(super) const NODES_LONG: &str = "\
The nodes, separated by commas: HOST, HOST:PORT,
redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE],
unix://[[USER]:PASSWORD@]/PATH[?db=DATABASE] or, for TLS, rediss:// in the place of
redis://, with ?ca=FILE&cert=FILE&key=FILE&server_name=NAME behind, as far as these are
needed. A comma in a password is written %2C.
@FILE reads the list from a file, with commas, or one node on each line; # begins a
comment. Everybody can see arguments, so a list with passwords belongs there, and the file
must not be open to others (chmod o=). nodes = \"@FILE\" in the file of --config names a
file beside that one. REDBOLT_NODES is used when this is absent";

pub(super) const CONFIG: &str = "A file with settings, in TOML";
pub(super) const CONFIG_LONG: &str = "\
A file with settings, in TOML: nodes = [\"db1\", \"db2\", \"db3\"], max_ttl = \"60s\" and so
on. The names are those of the variables, in small letters and without REDBOLT_. An option
goes before a variable, a variable before the file, and the file before the default. A
file with a password must not be open to others (chmod o=). REDBOLT_CONFIG is used when
this is absent";

pub(super) const USER: &str = "The user for nodes without a login of their own";
pub(super) const USER_LONG: &str = "\
The user for the nodes that are given without a login; REDBOLT_USER, or none, when this is
absent";

pub(super) const PASSWORD: &str = "A file with the password for such nodes";
pub(super) const PASSWORD_LONG: &str = "\
A file with the password for the nodes that are given without a login, on one line, or a
pipe such as <(COMMAND). The file must not be open to others (chmod o=). When this is
absent: REDBOLT_PASSWORD or REDBOLT_PASSWORD_FILE; else password or password_file in the
file of --config; else the credential of systemd that
LoadCredential=redbolt.password:/PATH loads";

pub(super) const GUARD: &str = "When a node counts that may have forgotten locks";
pub(super) const GUARD_LONG: &str = "\
When a node counts that may have forgotten locks [default: on]:
  on       once its witness is as old as the longest ttl
  strict   that long after the node is first seen
  durable  through restarts too, with AOF and appendfsync always
  off      at once: only for tests
REDBOLT_RESTART_GUARD is used when this is absent";

pub(super) const MAX_TTL: &str = "The longest ttl of any client [default: 60s]";
pub(super) const MAX_TTL_LONG: &str = "\
The longest ttl that any client of these nodes uses; REDBOLT_MAX_TTL, or 60s, when this is
absent";

pub(super) const PREFIX: &str = "What stands before every resource";
pub(super) const PREFIX_LONG: &str = "\
What stands before every resource to make the key; REDBOLT_PREFIX, or nothing, when this
is absent";

pub(super) const QUORUM: &str = "How many nodes must agree [default: a majority]";
pub(super) const QUORUM_LONG: &str = "\
How many nodes must agree: a majority, or more; REDBOLT_QUORUM, or a majority, when this
is absent";

pub(super) const RATE: &str = "How wrong clocks may run, in millionths [default: 5000]";
pub(super) const RATE_LONG: &str = "\
How much faster or slower than real time any clock may run, in millionths;
REDBOLT_DRIFT_RATE_PPM, or 5000, when this is absent";

pub(super) const STEP: &str = "How far a clock may be set meanwhile [default: 0s]";
pub(super) const STEP_LONG: &str = "\
How far the clock of a node may be set while a lock is held; REDBOLT_DRIFT_STEP, or 0s,
when this is absent";
