//! `redbolt exec` as a job of an interactive shell, at a terminal.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

use super::run::{PATIENCE, Run, assert_no_keys, exec};
use crate::support::process::Folder;
#[cfg(target_os = "linux")]
use crate::support::process::state_of;
use crate::support::servers::Cluster;
use crate::support::terminal::{PROMPT, Terminal};
use crate::support::until;

/// A shell at a terminal, in a folder of its own, with `redbolt exec` as `$exec`.
struct Desk {
    terminal: Terminal,
    folder: Folder,
    cluster: Cluster,
}

/// Short enough for the next holder to come soon, long enough to be stopped within.
const SHORT: &str = "--ttl 3s";

/// Appends a letter to the file `work`, as long as the folder is there. No other process takes
/// part: a shell cannot be stopped while it waits in `vfork` for a child that is stopped.
fn working(letter: char) -> String {
    let pause = "read -rt 0.01 -u 3";
    format!(
        "bash -c 'exec 3<> <(:); \
         while echo {letter} >>work; do {pause}; done'"
    )
}

impl Desk {
    fn new() -> Self {
        let (cluster, folder) = (Cluster::start(3), Folder::new());
        let terminal = Terminal::start(folder.path());
        let mut desk = Self { terminal, folder, cluster };
        let program = env!("CARGO_BIN_EXE_redbolt");
        let nodes = desk.cluster.addrs().join(",");
        desk.run(&format!("export REDBOLT_NODES={nodes} REDBOLT_RESTART_GUARD=off"));
        desk.run(&format!("exec='{program} exec'"));
        desk
    }

    /// Runs a line of the shell, and waits for the next prompt. Returns what was shown.
    fn run(&mut self, line: &str) -> String {
        self.start(line);
        self.terminal.expect(PROMPT)
    }

    /// Types a line of the shell, and waits until the line is on the screen.
    fn start(&mut self, line: &str) {
        self.terminal.run(line);
        // A long line is broken where the terminal ends.
        self.terminal.expect("\n");
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap_or_default()
    }

    /// Waits for a line in a file that a command writes.
    fn line(&self, name: &str) -> String {
        assert!(until(PATIENCE, || self.file(name).contains('\n')), "no line in {name}");
        self.file(name).lines().next().unwrap_or_default().to_owned()
    }

    /// The next holder, who works until the file `enough` is there.
    fn next_holder(&self) -> Run {
        let script = format!(
            "cd {}; echo >readyB
             while [ -e readyB ] && [ ! -e enough ]; do echo B >>work; sleep 0.01; done",
            self.path().display()
        );
        let mut next = exec(&self.cluster.addrs());
        Run::start(next.args(["--wait", "60s", "r", "--", "sh", "-c", &script]))
    }

    /// Runs a command that works under a short lock, stops the job by the key, and lets the next
    /// holder have the lock. `job` is what stands behind `--`.
    fn assert_exclusion_after_ctrl_z(&mut self, job: &str) {
        self.start(&format!("$exec {SHORT} r -- {job}"));
        self.line("work");
        self.terminal.ctrl('z');
        self.terminal.expect("Stopped");
        self.assert_exclusion();
    }

    /// Stops a job that has said that it is ready, continues the job, which reads a word and says
    /// it, and waits for the exit code.
    fn assert_goes_on_after_ctrl_z(&mut self, code: u8) {
        self.terminal.expect("ready\r\n");
        self.terminal.ctrl('z');
        self.terminal.expect("Stopped");
        self.terminal.expect(PROMPT);
        self.start("fg; echo code $?");
        self.terminal.run("word");
        self.terminal.expect("got word");
        self.terminal.expect(&format!("code {code}"));
        assert_no_keys(&self.cluster);
    }

    /// Lets the next holder have the lock of a job that is stopped, and then continues the job,
    /// which must end without having worked beside the next holder.
    fn assert_exclusion(&mut self) {
        let next = self.next_holder();
        self.line("readyB");
        self.start("fg; echo code $?");
        self.terminal.expect("code 76");
        fs::write(self.path().join("enough"), "").expect("the folder is ours");
        next.finish().assert_code(0);
        let mut turns: Vec<_> = self.file("work").lines().map(str::to_owned).collect();
        turns.dedup();
        assert_eq!(turns, ["A", "B"]);
        assert_no_keys(&self.cluster);
    }
}

#[test]
fn ctrl_z_stops_a_command_whose_output_goes_elsewhere() {
    Desk::new().assert_exclusion_after_ctrl_z(&format!("{} >log", working('A')));
}

#[test]
fn ctrl_z_stops_a_pipeline() {
    let mut desk = Desk::new();
    desk.run("set -o pipefail");
    desk.assert_exclusion_after_ctrl_z(&format!("{} | tee log", working('A')));
}

#[test]
fn ctrl_z_stops_a_command_that_has_the_terminal() {
    Desk::new().assert_exclusion_after_ctrl_z(&working('A'));
}

#[test]
fn ctrl_z_stops_what_has_left_the_group() {
    let worker = format!("setsid {} & wait", working('A'));
    Desk::new().assert_exclusion_after_ctrl_z(&format!("sh -c {worker:?} >log"));
}

#[test]
fn a_signal_that_stops_redbolt_stops_the_command_first() {
    let mut desk = Desk::new();
    desk.run("stty tostop");
    desk.run(&format!("$exec -v {SHORT} r -- {} >log & echo $! >pid", working('A')));
    desk.line("work");
    desk.run("kill -TSTP $(cat pid)");
    assert!(until(PATIENCE, || desk.run("jobs").contains("Stopped")));
    desk.assert_exclusion();
}

#[test]
fn a_job_that_is_continued_in_time_goes_on() {
    let mut desk = Desk::new();
    desk.start("$exec r -- sh -c 'echo ready; read line; echo got $line; exit 7'; echo code $?");
    desk.assert_goes_on_after_ctrl_z(7);
}

#[test]
fn a_command_in_the_background_is_stopped_when_it_wants_the_terminal_and_goes_on_with_fg() {
    let mut desk = Desk::new();
    desk.run("$exec r -- cat &");
    assert!(until(PATIENCE, || desk.run("jobs").contains("Stopped")));
    desk.start("fg");
    desk.terminal.run("word");
    desk.terminal.expect("word\r\nword\r\n");
    desk.terminal.ctrl('c');
    desk.terminal.expect(PROMPT);
    assert!(desk.run("echo code $?").contains("code 130"));
    assert_no_keys(&desk.cluster);
}

#[test]
fn a_command_that_reads_gets_the_terminal_although_its_output_goes_elsewhere() {
    let mut desk = Desk::new();
    desk.start("$exec r -- cat | tee copy; echo code $?");
    desk.terminal.run("word");
    assert_eq!(desk.line("copy"), "word");
    desk.terminal.ctrl('d');
    desk.terminal.expect("code 0");
    let prompt = "bash -c 'read -rsp password: word </dev/tty; echo $word'";
    desk.start(&format!("$exec r -- {prompt} >secret; echo code $?"));
    desk.terminal.expect("password:");
    desk.terminal.run("sesame");
    desk.terminal.expect("code 0");
    assert_eq!(desk.line("secret"), "sesame");
    assert_no_keys(&desk.cluster);
}

#[test]
#[cfg(target_os = "linux")]
fn a_lock_within_a_lock_gets_the_terminal_although_the_output_goes_elsewhere() {
    let mut desk = Desk::new();
    desk.start("$exec outer -- $exec r -- cat | tee copy");
    desk.terminal.run("word");
    assert_eq!(desk.line("copy"), "word");
    desk.terminal.ctrl('z');
    desk.terminal.expect("Stopped");
    desk.terminal.expect(PROMPT);
    desk.start("fg");
    desk.terminal.run("more");
    desk.terminal.expect("more\r\nmore\r\n");
    desk.terminal.ctrl('d');
    desk.terminal.expect(PROMPT);
    assert!(desk.run("echo code $?").contains("code 0"));
    assert_no_keys(&desk.cluster);
}

/// Neither of the two inner ones can lend the terminal, which belongs to the group of the first.
#[test]
#[cfg(target_os = "linux")]
fn the_terminal_goes_through_three_locks() {
    let mut desk = Desk::new();
    desk.start("$exec a -- $exec b -- $exec c -- cat | tee copy; echo code $?");
    desk.terminal.run("word");
    assert_eq!(desk.line("copy"), "word");
    desk.terminal.ctrl('d');
    desk.terminal.expect("code 0");
    assert_no_keys(&desk.cluster);
}

#[test]
#[cfg(target_os = "linux")]
fn a_lock_within_a_lock_in_the_background_is_stopped_when_it_wants_the_terminal() {
    let mut desk = Desk::new();
    desk.run("$exec outer -- $exec r -- cat &");
    assert!(until(PATIENCE, || desk.run("jobs").contains("Stopped")));
    desk.start("fg");
    desk.terminal.run("word");
    desk.terminal.expect("word\r\nword\r\n");
    desk.terminal.ctrl('d');
    desk.terminal.expect(PROMPT);
    assert_no_keys(&desk.cluster);
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_that_somebody_stops_stays_so_while_what_it_has_started_runs() {
    let mut desk = Desk::new();
    let worker = format!("setsid {} & echo $$ >pid; wait", working('A'));
    fs::write(desk.path().join("worker"), worker).expect("the folder is ours");
    desk.start(&format!("$exec {SHORT} r -- sh worker >log"));
    desk.line("work");
    let id: u32 = desk.line("pid").parse().expect("a process id");
    let pid = Pid::from_raw(id as i32).expect("not zero");
    kill_process(pid, Signal::STOP).expect("the shell runs");
    let is_stopped = || state_of(id) == Some('T');
    assert!(until(PATIENCE, is_stopped));
    let written = || fs::read(desk.path().join("work")).map_or(0, |work| work.len());
    let before = written();
    assert!(until(PATIENCE, || written() > before + 200) && is_stopped());
    kill_process(pid, Signal::KILL).expect("the shell is stopped");
    desk.terminal.expect(PROMPT);
}

#[test]
fn ctrl_c_ends_a_command_that_waits_for_the_terminal() {
    let mut desk = Desk::new();
    // The shell that waits is in the foreground, and its child may not read.
    desk.start("$exec r -- sh -c 'echo >ready; kill -STOP $$' >log");
    desk.line("ready");
    desk.terminal.ctrl('c');
    desk.terminal.expect(PROMPT);
    assert!(desk.run("echo code $?").contains("code 130"));
    assert_no_keys(&desk.cluster);
}

#[test]
fn ctrl_c_ends_a_loop_of_the_shell() {
    for output in ["", ">log"] {
        let mut desk = Desk::new();
        let line = "echo >ready; exec sleep 60";
        desk.start(&format!(
            "for i in 1 2; do $exec r -- sh -c '{line}' {output}; echo next; done"
        ));
        desk.line("ready");
        desk.terminal.ctrl('c');
        let shown = desk.terminal.expect(PROMPT);
        assert!(!shown.contains("next"), "{shown:?}");
    }
}

#[test]
fn a_stop_does_nothing_where_no_shell_would_continue_the_job() {
    let mut desk = Desk::new();
    desk.start(
        "setsid --wait $exec r -- sh -c 'echo $PPID >pid; \
         while [ -e pid ] && [ ! -e go ]; do sleep 0.01; done'; echo code $?",
    );
    let pid: i32 = desk.line("pid").parse().expect("a process id");
    let pid = Pid::from_raw(pid).expect("not zero");
    kill_process(pid, Signal::TSTP).expect("redbolt runs");
    fs::write(desk.path().join("go"), "").expect("the folder is ours");
    desk.terminal.expect("code 0");
}

#[test]
fn ctrl_z_stops_a_lock_within_a_lock() {
    let mut desk = Desk::new();
    desk.start("$exec outer -- $exec r -- sh -c 'echo ready; read line; echo got $line'");
    desk.assert_goes_on_after_ctrl_z(0);
}

#[test]
fn the_keys_reach_what_holds_the_lock_behind_the_command() {
    let mut desk = Desk::new();
    // A shell has what it starts in the background ignore the key.
    let worker = format!("echo $PPID >pid; env --default-signal setsid {} &", working('A'));
    fs::write(desk.path().join("worker"), worker).expect("the folder is ours");
    desk.start(&format!("$exec {SHORT} --wait-group r -- sh worker"));
    desk.line("work");
    // The keys are those of the command until its end is noticed.
    let redbolt = desk.line("pid");
    assert!(until(PATIENCE, || desk.terminal.foreground() == redbolt));
    desk.terminal.ctrl('z');
    desk.terminal.expect("Stopped");
    desk.terminal.expect(PROMPT);
    desk.start("fg");
    // The lock may have ended meanwhile, and redbolt with it.
    let has_ended =
        |desk: &Desk| desk.terminal.screen().contains("could not be kept until the command");
    assert!(until(PATIENCE, || desk.terminal.foreground() == redbolt || has_ended(&desk)));
    desk.terminal.ctrl('c');
    desk.terminal.expect(PROMPT);
    assert_no_keys(&desk.cluster);
}

#[test]
fn the_terminal_belongs_to_the_shell_again_after_a_command_that_was_killed() {
    let mut desk = Desk::new();
    desk.start("$exec --no-keep-alive --ttl 1s r -- sh -c 'trap \"\" TERM; cat'; echo code $?");
    desk.terminal.expect("code 76");
    desk.terminal.expect(PROMPT);
    assert!(desk.run("echo still here").contains("still here"));
}
