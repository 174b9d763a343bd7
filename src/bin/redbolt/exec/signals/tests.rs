//! Signals by name, and those that arrive.

use rustix::process::{getpid, kill_process};

use super::*;

#[test]
fn a_signal_to_continue_is_taken_once_and_no_other_is_lost() {
    let mut signals = Signals::new().expect("descriptors are left");
    assert!(!signals.take_continue());
    for signal in [Signal::USR1, Signal::CONT, Signal::CONT] {
        kill_process(getpid(), signal).expect("this process is there");
    }
    // The system hands a signal of the process to any of its threads.
    while !signals.take_continue() {
        std::thread::yield_now();
    }
    assert!(!signals.take_continue());
    signals.forget_job_control();
    assert_eq!(signals.next(), Some(Signal::USR1));
}

#[test]
fn a_signal_is_known_by_its_names_and_its_number() {
    for text in ["USR1", "usr1", "SIGUSR1", "10"] {
        assert_eq!(named(text), Ok(Signal::USR1), "{text}");
    }
    assert_eq!(name(Signal::USR1), "SIGUSR1");
    assert_eq!(name(Signal::KILL), "SIGKILL");
    assert_eq!(name(Signal::SEGV), "SIGSEGV");
    assert_eq!(name_of(40), "signal 40");
    for (known, signal) in NAMES {
        assert_eq!(name(signal), format!("SIG{known}"));
    }
    for text in ["", "SIG", "USR3", "KILL", "9", "0", "-1", "99"] {
        assert!(named(text).is_err(), "{text}");
    }
}
