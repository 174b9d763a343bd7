//! The help of `redbolt exec`: one line for each option with `-h`, and the whole with `--help`.
//!
//! `--help` indents the text of an option by ten columns.

pub(super) const TTL: &str = "How long the lock lasts by itself [default: 30s]";
pub(super) const TTL_LONG: &str = "\
How long the lock lasts unless it is renewed or released; REDBOLT_TTL, or 30s, when this
is absent";

pub(super) const MAX_HOLD: &str = "For how long the lock is kept alive [default: 24h]";
pub(super) const MAX_HOLD_LONG: &str = "\
For how long the lock is kept alive at most, from its acquisition: between the ttl and
168h; REDBOLT_MAX_HOLD, or 24h, or the ttl if that is longer, when this is absent";

pub(super) const AT_LEAST: &str = "How long others get no lock, however short COMMAND is";
pub(super) const AT_LEAST_LONG: &str = "\
How long the lock stays at least, from its acquisition: at most --max-hold. For a job that
many machines start at the same minute: the lock is left on the nodes when COMMAND has
ended, so that no other machine runs it again. REDBOLT_AT_LEAST does the same";

pub(super) const NO_KEEP_ALIVE: &str = "Do not renew the lock: the ttl must cover the command";
pub(super) const NO_KEEP_ALIVE_LONG: &str = "\
Do not renew the lock: the ttl must cover the command. REDBOLT_KEEP_ALIVE=false does the
same where there is no --max-hold";

pub(super) const EXPIRING: &str = "A signal for the command ahead of the end";
pub(super) const EXPIRING_LONG: &str = "\
The signal for the command when the lock is about to end, like USR1;
REDBOLT_EXPIRING_SIGNAL, or none, when this is absent";

pub(super) const WAIT: &str = "How long to wait for the lock, or forever [default: 10s]";
pub(super) const WAIT_LONG: &str = "\
How long to wait for the lock, connecting included: at most 168h, or forever, which
outlasts nodes that are down or in quarantine, and ends with a signal; REDBOLT_WAIT, or
10s, when this is absent";

pub(super) const FENCE: &str = "Give COMMAND a number by which storage refuses late writers";
pub(super) const FENCE_LONG: &str = "\
Draw a fencing number, and tell it to COMMAND as REDBOLT_FENCE: larger than those of all
earlier holders of RESOURCE who have asked for one, so that storage can refuse a holder
that writes late. The nodes need the rights to hget, hset and the key redbolt:fence. No
variable does the same: a REDBOLT_FENCE around redbolt belongs to another lock, and
COMMAND does not get it";

pub(super) const ASK: &str = "Ask all nodes, or a majority first [default: all]";
pub(super) const ASK_LONG: &str = "\
How many nodes an attempt asks at first [default: all]:
  all       every node, at once
  majority  as many as must agree, and the others only in doubt
REDBOLT_ASK is used when this is absent. With --fence all are asked";

pub(super) const WAIT_GROUP: &str = "Hold the lock for what COMMAND leaves behind, too";
pub(super) const WAIT_GROUP_LONG: &str = "\
Hold the lock until all that COMMAND has started has ended, and not only COMMAND itself.
REDBOLT_WAIT_GROUP=true does the same";

pub(super) const HELD: &str = "The exit code when another holds the lock [default: 75]";
pub(super) const HELD_LONG: &str = "\
The exit code when another holds the lock: 1 to 125, but no code that means something
else (see the end); REDBOLT_CONFLICT_EXIT_CODE, or 75, when this is absent";

pub(super) const LOST: &str = "The exit code when the lock ends too early [default: 76]";
pub(super) const LOST_LONG: &str = "\
The exit code when the validity of the lock ends while the command runs: 1 to 125, but no
code that means something else; REDBOLT_LOST_EXIT_CODE, or 76, when this is absent";

pub(super) const UNAVAILABLE: &str = "The exit code when too few nodes answer [default: 69]";
pub(super) const UNAVAILABLE_LONG: &str = "\
The exit code when no quorum of nodes can be asked: 1 to 125, but no code that means
something else; REDBOLT_UNAVAILABLE_EXIT_CODE, or 69, when this is absent";

pub(super) const LABEL: &str = "Tell others whose lock this is, by redbolt who";
pub(super) const LABEL_LONG: &str = "\
Tell others whose lock this is: redbolt who shows this text, the machine and the process
beside the lock. Whoever may read the nodes can read it. REDBOLT_LABEL does the same";

pub(super) const VERBOSE: &str = "Say what happens";
pub(super) const VERBOSE_LONG: &str = "\
Say what happens, and when: what keeps the lock from us, how long it took, how nodes
change, what came of it. REDBOLT_VERBOSE=true does the same, and -vv says no more";

pub(super) const QUIET: &str = "Say only why it failed, and nothing if another holds the lock";
pub(super) const QUIET_LONG: &str = "\
Say only why the exit code is not that of COMMAND, or that --at-least ends too early, and
nothing if another holds the lock: for cron, which mails what is said. A key that stays
for ever is told, because no later run would get the lock either. REDBOLT_QUIET=true does
the same";

pub(super) const LOG: &str = "How messages are written: text or json [default: text]";
pub(super) const LOG_LONG: &str = "\
How messages are written: as text, or as json, one object a line (see the end);
REDBOLT_LOG, or text, when this is absent";

/// Shown below the options by `-h`.
pub(super) const AFTER: &str = "\
Examples:
  redbolt exec --nodes db1,db2,db3 orders/42 -- ./bill
  redbolt exec --config /etc/redbolt.toml -n backup -- ./dump  # or 75
  redbolt exec --config /etc/redbolt.toml -w forever leader -- ./serve

--help has all details, and the exit codes.";

/// Shown below the options by `--help`.
pub(super) const AFTER_LONG: &str = "\
Examples:
  redbolt exec --nodes db1,db2,db3 orders/42 -- ./bill
  redbolt exec --config /etc/redbolt.toml -n backup -- ./dump  # or 75
  redbolt exec --config /etc/redbolt.toml -w forever leader -- ./serve

The lock is kept alive as long as the command runs, up to --max-hold. A command that is about to
outlive the validity of its lock all the same (the ttl less the drift, which is 1 % and 2 ms by
default, counted from the last request that a quorum has confirmed) is ended:
  SIGTERM  a tenth of the validity before its end (100 ms to 10 s, at most half of it)
  SIGKILL  a fiftieth of the validity before its end (20 ms to 1 s, at most a quarter of it)
Both go to all that the command has started, also to what has left its process group, as with
setsid, or has lost its parent. Work that the command hands to a service, such as at, systemd-run
or a container, is not found; nor is, where /proc hides the processes of other users, one of theirs,
and there Ctrl-Z stops nothing. On macOS nothing but the process group is found: the rest works on,
--wait-group is refused, and the lock of a command that had to be ended is left to its ttl.
When a quorum says that the lock is gone, all gets SIGKILL at once.
--expiring-signal goes to the process group when a third of the validity is left, which with
keep-alive means that renewals fail or --max-hold comes near. When the command ends after SIGTERM,
what is left gets SIGKILL; when it ends by itself, what it has left behind is left alone, or holds
the lock in its place with --wait-group.
The lock is released as soon as nothing of a killed command can act any more; if that takes over
100 ms, or a process of another user refuses to be killed, the lock is left to its ttl, and a line
on standard error says so.

With --at-least, redbolt ends when COMMAND does, and leaves the lock on the nodes for what is left
of that time, however COMMAND has ended; only one that could not be started leaves nothing. No ttl
is shortened: if more is left of the ttl, the lock stays for that. If more is left of the time than
--max-ttl, redbolt stays and keeps the lock alive until less is left. It also stays, and says so,
when too few nodes agree, and tries again until they do or the time is over. A signal ends that:
the lock is left with what it has, and a line says how much is missing. The other machines need
--no-wait, or a shorter wait: who waits for longer gets the lock in the end.

However short the wait is, there is one attempt at the lock. Before it, nodes get time to connect:
as long as the wait, but at most 1 s; with --no-wait or --wait 0 up to 1 s as well. Durations are
written like 250us, 20ms, 30s, 1.5m or 1.5min, 2h, 7d. An option that is a bare number is in
seconds; a variable and the file need the unit.

Every file may be a pipe to which somebody writes within 30 s, and no terminal. A byte order mark
and the line ends of Windows do not count.

A wait that cannot succeed fails at once: nodes in quarantine leave no quorum until it is over.
Nodes that cannot be reached are named at once, and tried until the wait ends. So are, within two
seconds, nodes that leave no quorum during the wait for any other reason, such as a missing right or
a full memory: once for each reason, with all nodes.

Messages go to standard error, each in one write, and never hold up what they tell of: where nobody
reads them, 256 wait, and more are left out and counted. With --verbose each begins with the process
id of redbolt and the seconds since the start, as in redbolt[4711]: [  1.234s], and a wait says from
time to time what keeps the lock from us.

With --log json each message is an object on one line. Every line has the fields time (RFC 3339,
UTC), level (warn, error, and with --verbose info), event, resource, pid (that of redbolt) and text.
The other fields depend on the event. Nodes have a node, state and status each, an occupant has a
state. Times are in milliseconds. EXEC.md has this table with the level of each event:
  quorum_awaited   left_ms, nodes: a quarantine is shorter than the wait
  no_quorum_yet    left_ms, nodes: too few nodes vote
  waiting          waited_ms, left_ms, attempts, occupant, nodes: null is no end
  stuck            occupant: the lock does not come free by itself
  locked           took_ms: the lock is held
  not_all_ready    nodes: some have had no vote
  command_started  command, command_pid: the arguments are not told
  node             node, state, status: the state of a node has changed
  shortened        the end of the lock has come nearer
  expiring         signal: that of --expiring-signal was sent
  ending           reason, signal, nodes: SIGTERM or SIGKILL was sent
  lost             reason, nodes: the lock has ended; COMMAND got SIGKILL
  terminal_wanted  COMMAND is stopped, and wants a terminal that is not ours
  unstoppable      what COMMAND has started cannot be stopped, and goes on
  continued        the job was stopped, and goes on
  command_ended    command, command_pid, code, signal, ran_ms, held_ms:
                   code is null after a death by signal, else signal is
  staying          left_ms: --at-least is longer than --max-ttl, redbolt stays
  not_kept_yet     left_ms, nodes: too few nodes agree to --at-least
  kept             left_ms: the lock stays, for --at-least
  kept_short       left_ms, short_ms: it stays for less, or has ended (0)
  left_to_ttl      the lock is not released
  released         confirmed, held_ms: held_ms counts from locked
  cleared          confirmed: what was left of a lost lock is deleted
  panicked         redbolt has a bug, and its exit code is 101
  left_out         count: so many messages are missing here
  failed           exit_code, failure, and what belongs to it: the failure is
                   usage, held, no_quorum, too_far, unavailable, interrupted,
                   start, overrun, gone or system

COMMAND runs without a shell, in a process group of its own. It has the terminal where standard
input and output are one, and otherwise as soon as it wants to read or to set it, if redbolt is in
the foreground. Its environment has REDBOLT_RESOURCE and REDBOLT_TOKEN, the value under which the
lock is stored, in 40 hex digits; with --fence also REDBOLT_FENCE, a number in decimal digits.

SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1 and SIGUSR2 are passed on to the group of COMMAND, and the
lock is released once it has ended; before it has begun they end the wait. With --wait-group, once
COMMAND has ended, they go to all that it has left. redbolt ends as COMMAND does: with its exit
code, or of the same signal. Ctrl-Z and SIGTSTP stop all that COMMAND has started, and then redbolt.
Nobody renews a lock meanwhile: fg and bg go on with COMMAND if the lock is still held, and kill it
if not. A stop does nothing where no shell would continue the job, or where something that COMMAND
has started refuses to be stopped.

Two signals cannot be handled. If redbolt is killed with SIGKILL, COMMAND goes on and nobody ends
it: others get the lock once the ttl has passed. The same holds as long as redbolt is stopped with
SIGSTOP. A service manager that sends SIGTERM to all processes of a unit sends it to COMMAND as
well, which so gets it twice: for systemd, KillMode=mixed prevents that.

The environment of redbolt is passed on, so that a redbolt in COMMAND has the same nodes. With it go
the passwords in REDBOLT_NODES and REDBOLT_PASSWORD, if they are there: `env -u` takes them away.
Passwords in a file or a credential are neither in an argument nor in an environment.

All other settings are read from variables and the file too, such as REDBOLT_RETRY_MAX or retry_max;
the library documents their names at Config::from_env. Any other name that begins with REDBOLT_, and
any other name in the file, is refused.

Exit codes, besides those of COMMAND (a shell shows 128 + N for the end by signal N):
  64   the command line, or a value in it, cannot be used
  69   no quorum of nodes could be asked; a line for each node says why (--unavailable-exit-code)
  70   something in this program or the system failed
  75   another held the lock until the wait ended (--conflict-exit-code)
  76   the validity of the lock ended while COMMAND ran, or so many nodes had lost the lock before
       its release that another may have had it (--lost-exit-code)
  126  COMMAND cannot be executed
  127  COMMAND was not found";
