//! A PostgreSQL server of the tests' own, where one is installed.
//!
//! The server has a folder below the temporary directory, listens to a Unix socket there and to no
//! port, and is lazy about the disk. All tests of a process share the server, each in a schema of
//! its own. The server dies with the process, however the process ends.

use std::fs::{self, File};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;
use std::{env, io};

use super::process::Folder;
use super::until;

/// Longer than a start takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The name of the superuser, and of the login.
pub(crate) const USER: &str = "redbolt";

/// Becomes the server. A shell beside it waits for the end of the test process, as in
/// [`super::process`], but sends SIGQUIT first: a server that is killed leaves its System V shared
/// memory behind.
const LEASHED: &str = r#"
    dir=$1; shift
    echo $$ >"$dir/pid"
    exec 3<&0 </dev/null
    (
        trap '' HUP INT QUIT TERM
        read -r line <&3
        kill -QUIT $$
        for try in 1 2 3 4 5 6 7 8 9 10; do
            kill -0 $$ && sleep 0.2
        done
        kill -9 $$
        rm -rf -- "$dir"
    ) >/dev/null 2>&1 &
    exec "$@" 3<&-
"#;

/// Only root needs one: PostgreSQL refuses to run as root.
struct Account {
    user: u32,
    group: u32,
}

pub(crate) struct Postgres {
    folder: Folder,
    // Dropped by the end of the process.
    _leash: ChildStdin,
}

impl Postgres {
    /// Returns the server of this process, or the reason why there is none.
    ///
    /// # Panics
    ///
    /// Panics if a server is installed and does not start.
    pub(crate) fn shared() -> Result<&'static Self, &'static str> {
        static SHARED: LazyLock<Result<Postgres, String>> = LazyLock::new(Postgres::start);
        SHARED.as_ref().map_err(String::as_str)
    }

    /// Returns the folder with the socket, for `PGHOST`.
    pub(crate) fn host(&self) -> String {
        self.folder.path().to_string_lossy().into_owned()
    }

    /// Returns the variables with which `psql` finds the server.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("PGHOST", self.host()),
            ("PGUSER", USER.to_owned()),
            ("PGDATABASE", "postgres".to_owned()),
        ]
    }

    fn start() -> Result<Self, String> {
        let programs = programs()?;
        let account = rustix::process::geteuid().is_root().then(account).transpose()?;
        let folder = Folder::new();
        if let Some(account) = &account {
            chown(folder.path(), Some(account.user), Some(account.group)).expect("root may");
        }
        initialise(&programs, &folder, account.as_ref());
        let (mut child, leash) = launch(&programs, &folder, account.as_ref());
        let server = Self { folder, _leash: leash };
        let mut has_ended = false;
        let is_ready = until(PATIENCE, || {
            has_ended = child.try_wait().expect("the child is ours").is_some();
            has_ended || server.answers()
        });
        assert!(is_ready && !has_ended, "postgres does not start:\n{}", server.folder.log());
        Ok(server)
    }

    fn answers(&self) -> bool {
        let mut psql = Command::new("psql");
        psql.args(["--no-psqlrc", "--command", "SELECT 1"]).envs(self.variables());
        psql.output().is_ok_and(|output| output.status.success())
    }
}

/// Makes an empty database cluster.
fn initialise(programs: &Path, folder: &Folder, account: Option<&Account>) {
    let mut initdb = Command::new(programs.join("initdb"));
    initdb.args(["--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C", "--username", USER]);
    initdb.arg("--pgdata").arg(folder.path().join("data"));
    let output = become_user(&mut initdb, folder, account).output().expect("initdb can be run");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "initdb fails: {said}");
}

fn launch(programs: &Path, folder: &Folder, account: Option<&Account>) -> (Child, ChildStdin) {
    let log = File::create(folder.path().join("log")).expect("the folder is ours");
    let mut command = Command::new("sh");
    command.args(["-c", LEASHED, "leash"]).arg(folder.path());
    command.arg(programs.join("postgres")).arg("-D").arg(folder.path().join("data"));
    let socket = format!("unix_socket_directories={}", folder.path().display());
    let settings = ["listen_addresses=", "fsync=off", "autovacuum=off", &socket];
    settings.iter().for_each(|setting| _ = command.args(["-c", setting]));
    command.stdin(Stdio::piped()).stdout(log.try_clone().expect("a file")).stderr(log);
    let mut child = become_user(&mut command, folder, account).spawn().expect("sh can be run");
    let leash = child.stdin.take().expect("it was asked for");
    (child, leash)
}

fn become_user<'a>(
    command: &'a mut Command,
    folder: &Folder,
    account: Option<&Account>,
) -> &'a mut Command {
    if let Some(account) = account {
        command.uid(account.user).gid(account.group);
    }
    command.current_dir(folder.path()).env("LC_ALL", "C")
}

/// Returns the folder of `initdb` and `postgres`, which Debian does not put on the `PATH`.
fn programs() -> Result<PathBuf, String> {
    if !Command::new("psql").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return Err("no psql on the PATH: tests/run.sh installs PostgreSQL".to_owned());
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<_> = env::split_paths(&path).collect();
    folders.extend(of_debian().unwrap_or_default());
    let is_whole = |folder: &PathBuf| {
        ["initdb", "postgres"].iter().all(|program| folder.join(program).is_file())
    };
    folders
        .into_iter()
        .find(is_whole)
        .ok_or_else(|| "no PostgreSQL server is installed: tests/run.sh installs one".to_owned())
}

fn of_debian() -> io::Result<Vec<PathBuf>> {
    let versions = fs::read_dir("/usr/lib/postgresql")?;
    Ok(versions.filter_map(|version| Some(version.ok()?.path().join("bin"))).collect())
}

/// Returns the account of the package, or else that of nobody.
fn account() -> Result<Account, String> {
    let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let find = |name: &str| {
        let mut fields = accounts.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let fields = fields.find(|fields| fields.first() == Some(&name))?;
        let number = |index: usize| fields.get(index)?.parse().ok();
        Some(Account { user: number(2)?, group: number(3)? })
    };
    find("postgres")
        .or_else(|| find("nobody"))
        .ok_or_else(|| "root cannot run PostgreSQL, and there is no other account".to_owned())
}
