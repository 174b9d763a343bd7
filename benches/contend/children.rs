//! The processes that a driver starts, and their end.

use std::env;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::Outcome;
use crate::record::Record;

/// A process of contenders. It is killed when this is dropped, so that no failure leaves it behind.
pub(crate) struct Worker {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Worker {
    /// Starts a process of our own with these options. [`Self::expect`] tells when it is ready.
    pub(crate) fn start(nodes: &[String], options: &[(&str, String)]) -> Outcome<Self> {
        Self::start_program(env::current_exe()?.as_os_str(), nodes, options)
    }

    /// Starts another program, which reads the same options and speaks as `worker` does.
    pub(crate) fn start_program(
        program: &OsStr,
        nodes: &[String],
        options: &[(&str, String)],
    ) -> Outcome<Self> {
        let mut command = Command::new(program);
        command.args(["--bench", "worker", "--nodes", &nodes.join(",")]);
        for (name, value) in options {
            command.arg(format!("--{name}")).arg(value);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{program:?}: {error}"))?;
        let input = child.stdin.take().ok_or("no pipe")?;
        let output = BufReader::new(child.stdout.take().ok_or("no pipe")?);
        Ok(Self { child, input, output })
    }

    pub(crate) fn tell(&mut self, words: &str) -> Outcome {
        writeln!(self.input, "{words}")?;
        Ok(())
    }

    /// Reads an answer that begins with this word. Returns what follows.
    pub(crate) fn expect(&mut self, word: &str) -> Outcome<String> {
        let line = self.line()?;
        let rest = line.strip_prefix(word);
        rest.map(|rest| rest.trim().to_owned()).ok_or_else(|| format!("not {word}: {line}").into())
    }

    /// Reads records to their end.
    pub(crate) fn records(&mut self, process: u32) -> Outcome<Vec<Record>> {
        let mut records = Vec::new();
        loop {
            let line = self.line()?;
            if line == "done" {
                return Ok(records);
            }
            records.push(Record { process, ..line.parse()? });
        }
    }

    /// Ends the process as a crash does.
    pub(crate) fn kill(&mut self) -> Outcome {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    fn line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        match self.output.read_line(&mut line)? {
            0 => Err("a process of contenders has ended".into()),
            _ => Ok(line.trim_end().to_owned()),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // One that has ended by itself is only waited for.
        let _ = self.kill();
    }
}
