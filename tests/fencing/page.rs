//! FENCING.md shows the statements that the example runs, letter by letter.

use crate::fenced::postgres::{
    MARKS, ONE_ROW_MARK, ONE_ROW_TABLE, ONE_ROW_WRITE, SEVERAL_ROWS_MARK, SEVERAL_ROWS_TABLE,
    SEVERAL_ROWS_WRITE,
};
use crate::fenced::redis_hash::SCRIPT;

pub(crate) const PAGE: &str = include_str!("../../FENCING.md");

#[test]
fn the_page_has_every_statement_that_the_example_runs() {
    let statements = [
        ONE_ROW_TABLE,
        ONE_ROW_MARK,
        ONE_ROW_WRITE,
        MARKS,
        SEVERAL_ROWS_TABLE,
        SEVERAL_ROWS_MARK,
        SEVERAL_ROWS_WRITE,
        SCRIPT,
    ];
    for statement in statements {
        assert!(PAGE.contains(statement), "FENCING.md lacks:\n{statement}");
    }
}
