//! All rows of a run of `run.sh`, and the figures that follow from them.
//!
//! A machine that others use too is faster one minute than the next. So two contestants are
//! compared round by round, in which they ran one after the other. The median of those ratios
//! counts; medians of times are only shown.

use crate::plan::Outcome;
use crate::row::{self, Figure, Row};

pub(crate) struct Record(Vec<Row>);

/// The load of a row. Rows with the same load belong together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Load {
    pub(crate) in_flight: usize,
    /// Starts a second; 0 in a closed loop.
    pub(crate) rate: u32,
}

/// The least, the median and the greatest of several repetitions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Spread {
    pub(crate) least: f64,
    pub(crate) median: f64,
    pub(crate) most: f64,
}

impl Record {
    pub(crate) fn read(text: &str) -> Outcome<Self> {
        Ok(Self(row::read(text)?))
    }

    /// Returns the contestants under this load, in the order in which they first ran.
    pub(crate) fn contestants(&self, load: Load) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for row in self.0.iter().filter(|row| row.load() == load) {
            if !names.contains(&row.contestant.as_str()) {
                names.push(&row.contestant);
            }
        }
        names
    }

    /// Returns all loads under which a contestant ran, in rising order.
    pub(crate) fn loads(&self, contestant: &str) -> Vec<Load> {
        let rows = self.0.iter().filter(|row| row.contestant == contestant);
        let mut loads: Vec<Load> = rows.map(Row::load).collect();
        loads.sort_by_key(|load| (load.rate, load.in_flight));
        loads.dedup();
        loads
    }

    /// Returns one figure of one contestant, or `None` if the contestant did not run.
    pub(crate) fn spread(&self, contestant: &str, load: Load, figure: Figure) -> Option<Spread> {
        spread(self.of(contestant, load).map(figure).collect())
    }

    /// Returns the figure of one contestant over that of another, for the rounds in which both ran.
    pub(crate) fn ratio(
        &self,
        [above, below]: [&str; 2],
        load: Load,
        figure: Figure,
    ) -> Option<Spread> {
        let mut ratios = Vec::new();
        for row in self.of(above, load) {
            let other = self.of(below, load).find(|other| other.round == row.round);
            ratios.extend(other.map(|other| figure(row) / figure(other)));
        }
        spread(ratios)
    }

    fn of(&self, contestant: &str, load: Load) -> impl Iterator<Item = &Row> {
        self.0.iter().filter(move |row| row.contestant == contestant && row.load() == load)
    }
}

fn spread(mut values: Vec<f64>) -> Option<Spread> {
    values.sort_by(f64::total_cmp);
    let (least, most) = (*values.first()?, *values.last()?);
    let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
    Some(Spread { least, median: low.midpoint(high), most })
}

impl Row {
    fn load(&self) -> Load {
        Load { in_flight: self.in_flight, rate: self.rate }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::HEADER;

    const CLOSED: Load = Load { in_flight: 8, rate: 0 };

    fn record() -> Record {
        // The machine is half as fast in the second round.
        let rows = "1,a,8,0,1,9,100,1,1,1,1,1,1\n1,b,8,0,1,9,50,1,1,1,1,1,1\n\
             2,a,8,0,1,9,50,1,1,1,1,1,1\n2,b,8,0,1,9,25,1,1,1,1,1,1\n\
             3,a,8,0,1,9,100,1,1,1,1,1,1\n1,a,8,70,1,9,7,1,1,1,1,1,1\n";
        Record::read(&format!("{HEADER}\n{rows}")).expect("a record")
    }

    #[test]
    fn ratios_are_those_of_rounds_in_which_both_ran() {
        let ratio = record().ratio(["a", "b"], CLOSED, |row| row.cycles_per_s);
        assert_eq!(ratio, Some(Spread { least: 2.0, median: 2.0, most: 2.0 }));
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_two() {
        let spread = record().spread("b", CLOSED, |row| row.cycles_per_s);
        assert_eq!(spread, Some(Spread { least: 25.0, median: 37.5, most: 50.0 }));
        assert_eq!(record().spread("c", CLOSED, |row| row.cycles_per_s), None);
    }

    #[test]
    fn loads_are_kept_apart() {
        assert_eq!(record().contestants(CLOSED), ["a", "b"]);
        assert_eq!(record().loads("a"), [CLOSED, Load { in_flight: 8, rate: 70 }]);
    }
}
