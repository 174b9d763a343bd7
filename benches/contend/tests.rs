//! What `cargo test --benches` checks: that the driver counts right, and that its load runs.

use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use redbolt::Clock;
use redbolt::embedded::Server;

use crate::args::Args;
use crate::census::calls;
use crate::children::Worker;
use crate::figures::{Figures, Samples, overtaken};
use crate::load::{self, Load};
use crate::proxy;
use crate::record::Record;
use crate::report::Row;

pub(crate) fn all() -> Vec<Trial> {
    vec![
        Trial::test("percentiles_are_samples", percentiles_are_samples),
        Trial::test("what_is_not_known_is_not_zero", what_is_not_known_is_not_zero),
        Trial::test("an_overtaken_request_is_counted", an_overtaken_request_is_counted),
        Trial::test("who_starves_is_not_hidden", who_starves_is_not_hidden),
        Trial::test("an_error_names_option_and_value", an_error_names_option_and_value),
        Trial::test("a_record_travels_as_a_line", a_record_travels_as_a_line),
        Trial::test("calls_of_commands_are_read", calls_of_commands_are_read),
        Trial::test("contenders_take_turns_far_away", contenders_take_turns_far_away),
        Trial::test("another_program_gets_the_options", another_program_gets_the_options),
    ]
}

fn percentiles_are_samples() -> Result<(), Failed> {
    let samples: Samples = [40, 10, 30, 20].into_iter().collect();
    let percentiles = [0.0, 25.0, 50.0, 75.0, 99.0].map(|percent| samples.percentile(percent));
    assert_eq!(percentiles, [10.0, 10.0, 20.0, 30.0, 40.0]);
    Ok(())
}

fn what_is_not_known_is_not_zero() -> Result<(), Failed> {
    let mut row = Row::new("none");
    row.figure("p50_ms", Samples::default().percentile(50.0));
    row.figure("factor", 144.0 / 0.0);
    row.figure("zero", 0.0);
    let text = "\nnone\n  p50_ms  factor  zero\n       -       -  0.00\n\
                json {\"title\":\"none\",\"p50_ms\":null,\"factor\":null,\"zero\":0.00}";
    assert_eq!(row.text(), text);
    Ok(())
}

fn record(asked: u64, queued: u64, ended: u64) -> Record {
    Record { process: 0, thread: 0, asked, queued, ended, released: ended + 1 }
}

fn an_overtaken_request_is_counted() -> Result<(), Failed> {
    let in_order = [record(1, 2, 10), record(3, 4, 20), record(5, 6, 30)];
    assert_eq!(overtaken(&in_order.each_ref()), 0);
    let at_the_same_time = [record(1, 4, 10), record(2, 3, 20)];
    assert_eq!(overtaken(&at_the_same_time.each_ref()), 0);
    let overtakes = [record(5, 6, 10), record(1, 2, 20), record(7, 8, 30)];
    assert_eq!(overtaken(&overtakes.each_ref()), 1);
    Ok(())
}

fn who_starves_is_not_hidden() -> Result<(), Failed> {
    let records = [record(1, 1, 5), record(2, 2, 90), record(20, 20, 30)];
    let figures = Figures::new(&records, 10..50, [(0, 0)]);
    assert_eq!((figures.waits.most(), figures.waits_before.most()), (10, 88));
    Ok(())
}

fn an_error_names_option_and_value() -> Result<(), Failed> {
    let names = ["seconds", "hold", "waiters"];
    let parse = |words: [&str; 2]| Args::parse("idle", &names, &words.map(str::to_owned));
    for unknown in ["--second", "--peer", "seconds"] {
        let error = parse([unknown, "5"]).err().expect("no such option").to_string();
        let start = format!("idle has no option {unknown:?}; there are --nodes, --seconds, --hold");
        assert!(error.starts_with(&start), "{error}");
    }
    let args = parse(["--hold", "5"]).map_err(|error| error.to_string())?;
    let error = args.duration("hold", Duration::ZERO).expect_err("no unit").to_string();
    assert!(error.starts_with("--hold is \"5\", which needs a unit"), "{error}");
    let args = parse(["--waiters", "30,0"]).map_err(|error| error.to_string())?;
    let error = args.counts::<u32>("waiters", "1", 50).expect_err("nobody waits").to_string();
    assert_eq!(error, "--waiters has \"0\", between 1 and 50 is possible");
    let error = args.counts::<u32>("waiters", "1", 20).expect_err("too many wait").to_string();
    assert_eq!(error, "--waiters has \"30\", between 1 and 20 is possible");
    for seconds in ["0", "86401"] {
        let args = parse(["--seconds", seconds]).map_err(|error| error.to_string())?;
        let error = args.seconds(3.0).expect_err("out of bounds").to_string();
        let expected = format!("--seconds is {seconds}, more than 0 and at most 86400 is possible");
        assert_eq!(error, expected);
    }
    Ok(())
}

fn a_record_travels_as_a_line() -> Result<(), Failed> {
    let sent = record(1, 2, 3);
    assert_eq!(sent.to_string().parse(), Ok(sent));
    assert!("1 2 3".parse::<Record>().is_err());
    Ok(())
}

fn calls_of_commands_are_read() -> Result<(), Failed> {
    assert_eq!(calls("cmdstat_client|id:calls=5,usec=7"), Some(("client|id", 5.0)));
    assert_eq!(calls("# Commandstats"), None);
    Ok(())
}

fn contenders_take_turns_far_away() -> Result<(), Failed> {
    let servers: Vec<_> = (0..3).map(|_| Server::start()).collect::<Result<_, _>>()?;
    let nodes: Vec<_> = servers.iter().map(|server| server.addr().to_string()).collect();
    let trip = Duration::from_millis(1);
    let nodes = proxy::start(&nodes, trip).map_err(|error| error.to_string())?;
    let clients = load::connect(&nodes, 1).map_err(|error| error.to_string())?;
    let begin = Clock::now();
    let load = Load {
        resources: vec!["contended".to_owned()],
        ttl: Duration::from_secs(10),
        hold: Duration::ZERO,
        end: begin + Duration::from_millis(100),
        grace: Duration::from_secs(10),
        is_once: false,
    };
    let records = load.threads(&clients, 4).map_err(|error| error.to_string())?;
    let figures = Figures::new(&records, begin.as_nanos()..u64::MAX, [(0, 0)]);
    assert!(figures.grants >= 4, "{} grants", figures.grants);
    assert_eq!((figures.overtaken, figures.overlaps), (0, 0));
    // The lock comes from the nodes once, and then goes from one thread to the next.
    let first = records.iter().min_by_key(|record| record.ended).expect("there are grants");
    assert!(first.ended - first.asked >= trip.as_nanos() as u64, "the proxy delays nothing");
    Ok(())
}

/// `echo` stands for the program: what it says are its options.
fn another_program_gets_the_options() -> Result<(), Failed> {
    let (nodes, options) = (["a:1".to_owned(), "b:2".to_owned()], [("hold", "5ms".to_owned())]);
    let mut worker = Worker::start_program("echo".as_ref(), &nodes, &options)
        .map_err(|error| error.to_string())?;
    let said = worker.expect("--bench").map_err(|error| error.to_string())?;
    assert_eq!(said, "worker --nodes a:1,b:2 --hold 5ms");
    let absent = Worker::start_program("/no/such/program".as_ref(), &nodes, &options);
    let error = absent.err().expect("there is no such program").to_string();
    assert!(error.contains("/no/such/program"), "{error}");
    Ok(())
}
