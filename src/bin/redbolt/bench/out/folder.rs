//! The files of `--out`.
//!
//! The folder is made before the load, so that a run is not lost to a name that cannot be used.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::hlog::Started;
use super::{hlog, html, series};
use crate::bench::figures::step::Measured;
use crate::bench::run::{Run, Step};
use crate::failure::Failure;
use crate::json;

pub(crate) const RUN: &str = "run.json";
const SERIES: &str = "series.csv";
const LATENCIES: &str = "acquire.hlog";
const PAGE: &str = "report.html";

pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let made = fs::create_dir_all(path);
        made.map_err(|error| failed(path, &error))?;
        Ok(Self(path.to_owned()))
    }

    /// Writes all files, and returns their names.
    pub(crate) fn write(
        &self,
        run: &Run,
        measured: &[Measured],
        started: Started,
    ) -> Result<Vec<PathBuf>, Failure> {
        let steps: Vec<&Step> = measured.iter().map(|measured| &measured.step).collect();
        self.file(RUN, |file| file.write_all(json::line(run).as_bytes()))?;
        self.file(SERIES, |file| file.write_all(series::csv(&steps).as_bytes()))?;
        self.file(LATENCIES, |file| hlog::write(file, measured, started))?;
        self.file(PAGE, |file| file.write_all(html::page(run).as_bytes()))?;
        Ok([PAGE, RUN, SERIES, LATENCIES].map(|name| self.0.join(name)).to_vec())
    }

    fn file(
        &self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let path = self.0.join(name);
        let written = File::create(&path).map(BufWriter::new).and_then(|mut file| {
            write(&mut file)?;
            file.flush()
        });
        written.map_err(|error| failed(&path, &error))
    }
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::software(format!("cannot write {}: {error}", path.display()))
}
