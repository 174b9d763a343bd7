//! The examples that put an engine into another loop, the one that leads, and the one that hands a
//! lock over, on masters inside this process.
#![allow(clippy::duplicate_mod, reason = "each example brings what all of them share")]

#[allow(dead_code, reason = "the test calls what `main` calls")]
#[path = "../examples/async_fd.rs"]
mod async_fd;
#[allow(dead_code, reason = "the test calls what `main` calls")]
#[path = "../examples/foreign_loop.rs"]
mod foreign_loop;

#[allow(dead_code, reason = "the test calls what `main` calls")]
#[path = "../examples/hand_over.rs"]
mod hand_over;
#[allow(dead_code, reason = "the test calls what `main` calls")]
#[path = "../examples/leader.rs"]
mod leader;

use std::error::Error;
use std::io::{BufReader, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use redbolt::Config;
use redbolt::embedded::Cluster;

/// An example takes a few seconds at most. One that nobody wakes would never end.
const PATIENCE: Duration = Duration::from_secs(60);

fn run(example: fn(Config) -> Result<(), Box<dyn Error>>) {
    let cluster = Cluster::start(3).expect("masters start");
    let config = cluster.config();
    let (sender, result) = mpsc::channel();
    thread::spawn(move || sender.send(example(config).map_err(|error| error.to_string())));
    assert_eq!(result.recv_timeout(PATIENCE), Ok(Ok(())));
}

#[test]
fn tasks_of_tokio_share_an_engine_that_tokio_wakes() {
    run(async_fd::example);
}

#[test]
fn candidates_lead_one_after_the_other() {
    run(leader::example);
}

#[test]
fn a_server_on_mio_is_woken_for_its_visitors_and_for_its_engine() {
    run(foreign_loop::example);
}

#[test]
fn a_lock_goes_from_one_client_to_the_next() {
    run(|config| {
        let (here, there) = UnixStream::pair()?;
        let of_successor = config.clone();
        let mut successor = None;
        hand_over::precede(config, || {
            successor = Some(thread::spawn(move || {
                let result = hand_over::succeed(of_successor, BufReader::new(there));
                result.map_err(|error| error.to_string())
            }));
            Ok(here)
        })?;
        let successor = successor.ok_or("nobody was started")?;
        Ok(successor.join().map_err(|_| "the successor has panicked")??)
    });
}

#[test]
fn a_successor_reads_the_configuration_of_the_first_process() {
    let read = |config: &Config| {
        let variables = hand_over::variables(config);
        let value =
            |name: &str| Some(variables.iter().find(|(known, _)| *known == name)?.1.clone());
        Config::from_vars(value).expect("they can be used")
    };
    let nodes = ["redis://app:p%40ss%2C%25@a:7000/3", "redis://:%C3%A4@[::1]/1", "b"];
    let config = Config::new(nodes).expect("addresses");
    let cluster = Cluster::start(1).expect("a master starts");
    for config in [config, cluster.config()] {
        let copy = read(&config);
        // `Debug` leaves out the passwords.
        assert_eq!((&copy.nodes, format!("{copy:?}")), (&config.nodes, format!("{config:?}")));
    }
}

/// The first process has died, amid its line at that.
#[test]
fn a_successor_to_whom_nothing_is_handed_over_gets_a_free_lock() {
    run(|config| {
        let (mut here, there) = UnixStream::pair()?;
        write!(here, "1:")?;
        drop(here);
        hand_over::succeed(config, BufReader::new(there))
    });
}
