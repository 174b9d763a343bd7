//! Scripts for PostgreSQL, each run by a `psql` of its own. A service has a library and a pool of
//! connections in this place; the statements stay the same, with `$1` for `:fence`.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use super::storage::StorageError;

/// One schema of the database that the variables of `psql` name: `PGHOST`, `PGUSER` and others.
#[derive(Clone)]
pub(crate) struct Psql {
    pub(crate) schema: String,
    /// Variables such as `PGHOST`, where those of the environment will not do.
    pub(crate) variables: Vec<(&'static str, String)>,
}

impl Psql {
    pub(crate) fn new(schema: &str) -> Self {
        Self { schema: schema.to_owned(), variables: Vec::new() }
    }

    /// Makes the schema, and its tables.
    pub(crate) fn create_schema(&self, tables: &[&str]) -> Result<(), StorageError> {
        let schema = format!("CREATE SCHEMA {};\n", self.schema);
        self.run(&(schema + &tables.concat()), &[]).map(|_| ())
    }

    pub(crate) fn drop_schema(&self) -> Result<(), StorageError> {
        self.run(&format!("DROP SCHEMA {} CASCADE;", self.schema), &[]).map(|_| ())
    }

    /// Runs a script to its first error, and returns the lines of the result. A transaction that
    /// is open then is rolled back.
    pub(crate) fn run(
        &self,
        script: &str,
        variables: &[(&str, &str)],
    ) -> Result<String, StorageError> {
        let mut command = self.command();
        for (name, value) in variables {
            command.arg("--set").arg(format!("{name}={value}"));
        }
        let output = feed(command, script)?;
        let error = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else if error.contains(" LATE0: ") {
            Err(StorageError::Late)
        } else {
            Err(StorageError::failed(error.trim_end()))
        }
    }

    /// Returns a `psql` that reads a script from its standard input. Values of type text come
    /// alone in their lines, without tags such as `UPDATE 1`, and errors with their codes.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new("psql");
        command.args(["--no-psqlrc", "--no-align", "--tuples-only", "--quiet"]);
        command.args(["--set", "ON_ERROR_STOP=1", "--set", "VERBOSITY=verbose"]);
        command.env("PGOPTIONS", format!("-c search_path={}", self.schema));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

fn feed(mut command: Command, script: &str) -> Result<Output, StorageError> {
    let child = command.spawn();
    let mut child =
        child.map_err(|error| StorageError::failed(format_args!("psql cannot be run: {error}")))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A `psql` that cannot connect reads nothing, and says so in its standard error.
        _ = stdin.write_all(script.as_bytes());
    }
    Ok(child.wait_with_output()?)
}
