//! redbolt's fencing protocol, checked by going through every state within bounds.
//!
//! ```text
//! cargo run --release                   # all of it
//! cargo run --release -- proofs         # what must hold
//! cargo run --release -- variants       # broken forms, each of which must be refuted
//! cargo run --release -- night          # what must hold in worlds that are larger
//! cargo run --release -- trace WORDS    # one by one, each case with these words in its name
//! ```
//!
//! README.md beside this folder says what the model shows and what it leaves out.

mod client;
mod clock;
mod heal;
mod node;
mod proofs;
mod properties;
mod state;
mod step;
mod storage;
mod table;
mod variants;
mod world;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let surprises = match arguments.as_slice() {
        [] => {
            let mut cases = proofs::all();
            cases.extend(variants::all());
            table::run(&cases)
        }
        ["proofs"] => table::run(&proofs::all()),
        ["variants"] => table::run(&variants::all()),
        ["night"] => table::run(&proofs::of_a_night()),
        ["trace", words] => {
            let mut cases = variants::all();
            cases.extend(proofs::all());
            cases.extend(proofs::of_a_night());
            let wanted = cases.iter().filter(|case| case.name.contains(words));
            usize::from(wanted.filter(|case| table::trace(case)).count() == 0)
        }
        _ => {
            eprintln!("usage: redbolt-model [proofs | variants | night | trace WORDS]");
            return ExitCode::from(2);
        }
    };
    ExitCode::from(u8::from(surprises > 0))
}
