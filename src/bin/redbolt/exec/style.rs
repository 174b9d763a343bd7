//! How a message is written: as text for people, or as JSON for programs.

use std::process;
use std::sync::Arc;
use std::time::Duration;

use redbolt::Clock;
use redbolt::time::Instant;
use serde::Serialize;

use super::message::{Level, Message};
use crate::json;
use crate::wall_clock::{now, rfc3339};

/// The value of `--log`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Form {
    #[default]
    Text,
    Json,
}

impl Form {
    /// The names of the forms.
    pub(super) const NAMES: [&str; 2] = ["text", "json"];

    /// Parses the value. The error continues `--log is "text", …`.
    pub(super) fn named(text: &str) -> Result<Self, String> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err("text or json is possible".to_owned()),
        }
    }
}

/// How much is said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Volume {
    /// Why the exit code is not that of the command, unless another holds the lock.
    Quiet,
    /// What needs attention as well.
    Normal,
    /// Everything.
    Verbose,
}

/// What is said, and how.
#[derive(Clone)]
pub(super) struct Style {
    form: Form,
    volume: Volume,
    /// `None` where no command line could be read.
    resource: Option<Arc<str>>,
    /// The id of this process, by which the lines of one run are found among those of others.
    pid: u32,
    /// When the run began.
    start: Instant,
}

/// One line of JSON. The fields of the message come between the level and the text.
#[derive(Serialize)]
struct Line<'a> {
    time: String,
    level: Level,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<&'a str>,
    pid: u32,
    #[serde(flatten)]
    message: &'a Message<'a>,
    text: String,
}

impl Style {
    /// The style of a run that begins now.
    pub(super) fn new(form: Form, volume: Volume, resource: Option<&str>) -> Self {
        let (resource, pid) = (resource.map(Arc::from), process::id());
        Self { form, volume, resource, pid, start: Clock::now() }
    }

    /// Whether a message is said at all.
    pub(super) fn says(&self, message: &Message<'_>) -> bool {
        match self.volume {
            Volume::Quiet => message.breaks_quiet(),
            Volume::Normal => message.level() > Level::Info,
            Volume::Verbose => true,
        }
    }

    /// Returns a message as it is written: all of it in one piece, so that several processes do
    /// not write into each other's lines.
    pub(super) fn line(&self, message: &Message<'_>) -> String {
        match self.form {
            Form::Json => self.json(message, now()),
            Form::Text if self.volume == Volume::Verbose => {
                let (pid, seconds) = (self.pid, (Clock::now() - self.start).as_secs_f64());
                format!("redbolt[{pid}]: [{seconds:7.3}s] {}\n", message.text(self.name()))
            }
            Form::Text => format!("redbolt: {}\n", message.text(self.name())),
        }
    }

    fn name(&self) -> &str {
        self.resource.as_deref().unwrap_or_default()
    }

    fn json(&self, message: &Message<'_>, now: Duration) -> String {
        let resource = self.resource.as_deref();
        let text = message.text(self.name()).to_string();
        let (time, level, pid) = (rfc3339(now), message.level(), self.pid);
        json::line(&Line { time, level, resource, pid, message, text })
    }
}

#[cfg(test)]
mod tests;
