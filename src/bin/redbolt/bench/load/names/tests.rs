use std::collections::HashSet;

use super::*;
use crate::bench::load::demand::sample;

fn demand(resources: Resources) -> Demand {
    Demand { resources, ..sample() }
}

fn division(engines: usize) -> Division {
    let mut config = redbolt::Config::with_addresses([]);
    config.threads = engines;
    config.division()
}

fn thousand(names: &mut Names) -> HashSet<Vec<u8>> {
    (0..1_000).map(|_| names.next().to_vec()).collect()
}

#[test]
fn own_names_are_never_the_same() {
    let demand = demand(Resources::Own);
    let mut names = Naming::new(&demand).of_worker(0);
    let seen = thousand(&mut names);
    assert_eq!(seen.len(), 1_000);
    assert!(seen.iter().any(|name| name.ends_with(b"/0000001000")), "{seen:?}");
    assert_eq!(names.len(), LEAST_LEN as usize);
}

#[test]
fn names_of_an_engine_are_never_the_same_and_never_of_another_engine() {
    let (demand, division) = (demand(Resources::Own), division(64));
    for engine in [0, 63] {
        let seen = thousand(&mut Naming::new(&demand).of_engine(engine, division));
        assert_eq!(seen.len(), 1_000);
        assert!(seen.iter().all(|name| division.of(name) == engine), "{seen:?}");
    }
}

#[test]
fn shared_names_are_all_of_those_and_no_other() {
    for resources in [Resources::Uniform(3), Resources::Zipf { count: 3, exponent: 0.99 }] {
        let demand = demand(resources);
        let seen = thousand(&mut Naming::new(&demand).of_worker(0));
        let all = [0, 1, 2].map(|number| format!("bench/{number:010}").into_bytes());
        assert_eq!(seen, HashSet::from(all), "{resources}");
    }
}

#[test]
fn engines_have_names_of_their_own_and_all_names_together() {
    let division = division(3);
    for resources in [Resources::Uniform(100), Resources::Zipf { count: 100, exponent: 0.5 }] {
        let demand = demand(resources);
        let naming = Naming::new(&demand);
        let mut all = naming.divided(100, division);
        let seen: Vec<_> = all.iter_mut().map(thousand).collect();
        for (engine, names) in seen.iter().enumerate() {
            assert!(names.iter().all(|name| division.of(name) == engine), "{names:?}");
        }
        assert_eq!(seen.iter().flatten().collect::<HashSet<_>>().len(), 100, "{resources}");
        assert_eq!(naming.divided(1, division).len(), 1, "the others have no resource");
    }
}

#[test]
fn names_are_as_long_as_they_are_to_be_and_differ_in_their_last_bytes() {
    for resources in [Resources::Own, Resources::Uniform(7)] {
        let demand = Demand { key_len: Some(200), ..demand(resources) };
        let mut names = Naming::new(&demand).of_worker(3);
        let seen = thousand(&mut names);
        assert!(seen.iter().all(|name| name.len() == 200), "{resources}");
        assert_eq!(seen.len(), if resources == Resources::Own { 1_000 } else { 7 });
    }
}

#[test]
fn the_same_seed_wants_the_same_resources_and_another_worker_wants_others() {
    let demand = demand(Resources::Uniform(1_000_000));
    let naming = Naming::new(&demand);
    let drawn = |worker| {
        let mut names = naming.of_worker(worker);
        (0..20).map(|_| names.next().to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(drawn(1), drawn(1));
    assert_ne!(drawn(1), drawn(2));
}
