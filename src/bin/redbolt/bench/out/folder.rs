//! The files of `--out`.
//!
//! The folder is made and tried before the load, so that a run is not lost to a name that cannot be
//! used. An earlier run in the folder stays: it may be somebody's baseline. All files are written
//! under other names first: a folder has the files of one run, whole, or none.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;

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
const ALL: [&str; 4] = [PAGE, RUN, SERIES, LATENCIES];

pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let made = fs::create_dir_all(path);
        made.map_err(|error| failed(path, &error))?;
        let earlier = path.join(RUN);
        if fs::symlink_metadata(&earlier).is_ok() {
            let earlier = earlier.display();
            let advice = "of an earlier run, which is not overwritten: name another folder";
            return Err(Failure::usage(format!("--out: {earlier} is {advice}")));
        }
        let folder = Self(path.to_owned());
        if let Some(taken) = ALL.map(|name| path.join(name)).into_iter().find(|path| path.is_dir())
        {
            return Err(failed(&taken, &io::ErrorKind::IsADirectory.into()));
        }
        folder.discard();
        folder.file(RUN, |_| Ok(()))?;
        folder.discard();
        Ok(folder)
    }

    /// Writes all files, or none, and returns their names.
    pub(crate) fn write(
        &self,
        run: &Run,
        measured: &[Measured],
        started: Started,
    ) -> Result<Vec<PathBuf>, Failure> {
        let written = self.write_all(run, measured, started);
        let named = written.and_then(|()| {
            let rename = |name: &&str| {
                let path = self.0.join(name);
                fs::rename(self.unfinished(name), &path).map_err(|error| failed(&path, &error))
            };
            ALL.iter().try_for_each(rename)
        });
        self.discard();
        named.map(|()| ALL.map(|name| self.0.join(name)).to_vec())
    }

    fn write_all(&self, run: &Run, measured: &[Measured], started: Started) -> Result<(), Failure> {
        let steps: Vec<&Step> = measured.iter().map(|measured| &measured.step).collect();
        self.file(RUN, |file| file.write_all(json::line(run).as_bytes()))?;
        self.file(SERIES, |file| file.write_all(series::csv(&steps).as_bytes()))?;
        self.file(LATENCIES, |file| hlog::write(file, measured, started))?;
        self.file(PAGE, |file| file.write_all(html::page(run).as_bytes()))
    }

    /// The name of a file until all files are whole.
    fn unfinished(&self, name: &str) -> PathBuf {
        self.0.join(format!(".{name}.{}", process::id()))
    }

    /// Removes what is left under other names. A file that stays does no harm.
    fn discard(&self) {
        ALL.iter().for_each(|name| _ = fs::remove_file(self.unfinished(name)));
    }

    fn file(
        &self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        // No link of somebody else is followed, and a pipe without a reader is not waited for.
        let created = File::create_new(self.unfinished(name)).map(BufWriter::new);
        let written = created.and_then(|mut file| {
            write(&mut file)?;
            file.flush()
        });
        written.map_err(|error| failed(&self.0.join(name), &error))
    }
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::software(format!("cannot write {}: {error}", path.display()))
}
