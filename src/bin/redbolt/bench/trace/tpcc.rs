//! The locks of TPC-C (TPC Benchmark C, Standard Specification, revision 5.11).
//!
//! A transaction locks the rows that it changes. Rows that it only reads or adds are not locked:
//! every lock here is exclusive, and the items, which all New-Orders read and nobody changes, would
//! be in the way of everybody. The two transactions that change nothing lock the one row on which
//! their reads hang: Order-Status its customer, Stock-Level its district.
//!
//! | transaction | share | locks |
//! | --- | --- | --- |
//! | New-Order | 45 % | the district, and 5 to 15 rows of stock, 1 in 100 of another warehouse |
//! | Payment | 43 % | the warehouse, the district and the customer, 15 % of another warehouse |
//! | Order-Status | 4 % | the customer |
//! | Delivery | 4 % | for all ten districts the oldest new order and its customer |
//! | Stock-Level | 4 % | the district |

use fastrand::Rng;

use super::draw::{Generator, non_uniform, of_mix, percent};

const DISTRICTS: u64 = 10;
const CUSTOMERS: u64 = 3_000;
const ITEMS: u64 = 100_000;

/// How many customers of a district have the same last name: the names are numbered up to a
/// thousand, and a customer who is asked for by name is the one in the middle.
const NAMESAKES: u64 = 3;

/// The rows of one warehouse that can be locked: itself, its districts with their oldest new
/// orders, customers and stock.
pub(super) const ROWS: u64 = 1 + 2 * DISTRICTS + DISTRICTS * CUSTOMERS + ITEMS;

#[derive(Clone, Copy)]
enum Transaction {
    NewOrder,
    Payment,
    OrderStatus,
    Delivery,
    StockLevel,
}

use Transaction::{Delivery, NewOrder, OrderStatus, Payment, StockLevel};

const MIX: [(u32, Transaction); 4] =
    [(45, NewOrder), (43, Payment), (4, OrderStatus), (4, Delivery)];

pub(super) struct Tpcc {
    warehouses: u64,
    rng: Rng,
    /// The constants C of clause 2.1.6.1, for names, customers and items.
    c: [u64; 3],
}

impl Tpcc {
    /// Of at least one warehouse.
    pub(super) fn new(warehouses: u32, seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let c = [255, 1_023, 8_191].map(|a| rng.u64(0..=a));
        Self { warehouses: warehouses.into(), rng, c }
    }

    fn new_order(&mut self, warehouse: u64) -> Vec<String> {
        let [_, _, c] = self.c;
        let mut names = vec![district(warehouse, self.district())];
        for _ in 0..self.rng.u32(5..=15) {
            let item = non_uniform(&mut self.rng, 8_191, 1, ITEMS, c);
            let is_remote = percent(&mut self.rng, 1);
            let supplier = if is_remote { self.another(warehouse) } else { warehouse };
            names.push(format!("tpcc/s/{supplier}/{item}"));
        }
        names
    }

    fn payment(&mut self, warehouse: u64) -> Vec<String> {
        let number = self.district();
        let (mut home, mut of) = (warehouse, number);
        if percent(&mut self.rng, 15) {
            (home, of) = (self.another(warehouse), self.district());
        }
        let customer = self.customer(home, of);
        vec![format!("tpcc/w/{warehouse}"), district(warehouse, number), customer]
    }

    fn delivery(&mut self, warehouse: u64) -> Vec<String> {
        let mut names = Vec::new();
        for district in 1..=DISTRICTS {
            names.push(format!("tpcc/o/{warehouse}/{district}"));
            // The customers of the orders are a random permutation.
            let customer = self.rng.u64(1..=CUSTOMERS);
            names.push(format!("tpcc/c/{warehouse}/{district}/{customer}"));
        }
        names
    }

    /// A customer, in six of ten cases by the last name.
    fn customer(&mut self, warehouse: u64, district: u64) -> String {
        let [names, numbers, _] = self.c;
        let number = if percent(&mut self.rng, 60) {
            let name = non_uniform(&mut self.rng, 255, 0, CUSTOMERS / NAMESAKES - 1, names);
            name * NAMESAKES + NAMESAKES.div_ceil(2)
        } else {
            non_uniform(&mut self.rng, 1_023, 1, CUSTOMERS, numbers)
        };
        format!("tpcc/c/{warehouse}/{district}/{number}")
    }

    fn district(&mut self) -> u64 {
        self.rng.u64(1..=DISTRICTS)
    }

    /// A warehouse that is not this one, unless there is only one.
    fn another(&mut self, warehouse: u64) -> u64 {
        if self.warehouses == 1 {
            return warehouse;
        }
        let other = self.rng.u64(1..self.warehouses);
        if other < warehouse { other } else { other + 1 }
    }
}

impl Generator for Tpcc {
    fn next(&mut self) -> Vec<String> {
        let warehouse = self.rng.u64(1..=self.warehouses);
        match of_mix(&mut self.rng, &MIX, StockLevel) {
            NewOrder => self.new_order(warehouse),
            Payment => self.payment(warehouse),
            OrderStatus => {
                let number = self.district();
                vec![self.customer(warehouse, number)]
            }
            Delivery => self.delivery(warehouse),
            StockLevel => vec![district(warehouse, self.district())],
        }
    }
}

fn district(warehouse: u64, district: u64) -> String {
    format!("tpcc/d/{warehouse}/{district}")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// The numbers of a name behind its table, or a panic.
    fn numbers(name: &str) -> (&str, Vec<u64>) {
        let mut parts = name.split('/').skip(1);
        let table = parts.next().expect("a table");
        (table, parts.map(|part| part.parse().expect("a number")).collect())
    }

    #[test]
    fn every_lock_is_a_row_of_the_schema() {
        for warehouses in [1, 3] {
            let mut tpcc = Tpcc::new(warehouses, 1);
            let names = (0..20_000).flat_map(|_| tpcc.next()).collect::<HashSet<_>>();
            for name in names {
                let (table, numbers) = numbers(&name);
                let most: &[u64] = match table {
                    "w" => &[warehouses.into()],
                    "d" | "o" => &[warehouses.into(), DISTRICTS],
                    "c" => &[warehouses.into(), DISTRICTS, CUSTOMERS],
                    "s" => &[warehouses.into(), ITEMS],
                    _ => panic!("{name}"),
                };
                assert_eq!(numbers.len(), most.len(), "{name}");
                let fits =
                    numbers.iter().zip(most).all(|(number, most)| (1..=*most).contains(number));
                assert!(fits, "{name}");
            }
        }
    }

    #[test]
    fn the_transactions_come_up_in_their_shares_with_their_locks() {
        let mut tpcc = Tpcc::new(8, 1);
        let mut counts = [0u32; 5];
        for _ in 0..100_000 {
            let names = tpcc.next();
            let tables: String = names.iter().map(|name| numbers(name).0).collect();
            let kind = match tables.as_str() {
                "wdc" => 1,
                "c" => 2,
                "d" => 4,
                _ if tables.starts_with("ds") && (6..=16).contains(&tables.len()) => 0,
                _ if tables == "oc".repeat(10) => 3,
                _ => panic!("{names:?}"),
            };
            counts[kind] += 1;
        }
        for (count, share) in counts.into_iter().zip([45_000, 43_000, 4_000, 4_000, 4_000u32]) {
            assert!(count.abs_diff(share) < 1_000, "{counts:?}");
        }
    }

    #[test]
    fn another_warehouse_is_never_the_same_unless_it_is_the_only_one() {
        let mut tpcc = Tpcc::new(3, 1);
        let others = (0..1_000).map(|_| tpcc.another(2)).collect::<HashSet<_>>();
        assert_eq!(others, HashSet::from([1, 3]));
        assert_eq!(Tpcc::new(1, 1).another(1), 1);
    }
}
