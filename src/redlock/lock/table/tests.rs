//! The index and the lines of the table, against a model.

use super::*;
use crate::redlock::lock::Way;

/// Adds a lock to its line, at this place of its line, or else at the end: at place 0 ahead of the
/// first lock, at place 1 behind the first and the adoptions behind the first.
fn add(table: &mut Table, resource: &[u8], place: Option<usize>) -> u32 {
    let slot = table.claim();
    let hash = table.hash(resource);
    table[slot].phase = Phase::Ready;
    table[slot].resource.extend_from_slice(resource);
    table[slot].links.hash = hash;
    match table.first_of(Names { count: 1, bytes: resource }, hash) {
        Some(first) if place == Some(0) => table.overtake(first, slot),
        Some(first) if place == Some(1) => {
            table[slot].way = Way::Adopted;
            table.line_up_next(first, slot);
        }
        Some(first) => table.line_up(first, slot),
        None => table.lead(slot),
    }
    slot
}

#[test]
fn an_id_is_spent_when_its_slot_is_vacated() {
    let mut table = Table::new(2, 1);
    let slot = add(&mut table, b"a", None);
    let id = table.id(slot);
    assert_eq!(table.find(id), Some(slot));
    table.leave_line(slot);
    table.vacate(slot);
    assert_eq!(table.find(id), None);
    assert_eq!(add(&mut table, b"a", None), slot);
    assert_eq!(table.find(id), None);
}

#[test]
fn lines_agree_with_a_model_under_random_use() {
    for seed in 0..300 {
        let mut rng = fastrand::Rng::with_seed(seed);
        // Few buckets and many resources make long chains.
        let mut table = Table::new(64, seed);
        table.buckets = vec![0; 4].into_boxed_slice();
        let mut lines: Vec<Vec<u32>> = vec![Vec::new(); 12];
        for _ in 0..400 {
            let name = rng.usize(..lines.len());
            let resource = [b'r', name as u8];
            let names = Names { count: 1, bytes: &resource };
            if rng.bool() && !table.is_full() {
                let place = Some(rng.usize(..6)).filter(|place| *place < 2);
                let slot = add(&mut table, &resource, place);
                let line = &mut lines[name];
                let adopted = line.iter().skip(1).take_while(|slot| table[**slot].is_adopted());
                let place = match place {
                    None => line.len(),
                    Some(0) => 0,
                    Some(_) => line.len().min(1) + adopted.count(),
                };
                line.insert(place, slot);
            } else if !lines[name].is_empty() {
                let place = rng.usize(..lines[name].len());
                let slot = lines[name].remove(place);
                let heir = table.leave_line(slot);
                table[slot].phase = Phase::Draining;
                table.count_ended();
                let hash = table.hash(&resource);
                assert_eq!(table.predecessor(names, hash).is_some(), place == 0, "seed {seed}");
                let expected = lines[name].first().copied().filter(|_| place == 0);
                assert_eq!(heir, expected, "seed {seed}");
                table.vacate(slot);
            }
            let hash = table.hash(&resource);
            let first = lines[name].first().copied();
            assert_eq!(table.first_of(names, hash), first, "seed {seed}");
        }
    }
}
