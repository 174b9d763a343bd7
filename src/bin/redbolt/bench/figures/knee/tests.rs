use super::*;

fn level(in_flight: u64, rate: Option<u32>, cycles_per_s: f64) -> Level {
    Level {
        in_flight,
        offered_per_s: rate,
        rounds: 1,
        cycles_per_s,
        least_cycles_per_s: cycles_per_s,
        most_cycles_per_s: cycles_per_s,
        failed: 0,
        overdue: 0,
        is_behind: rate.is_some_and(|rate| cycles_per_s < 0.99 * f64::from(rate)),
        acquire_p50_us: None,
        acquire_p99_us: None,
        acquire_p999_us: None,
        acquire_max_us: None,
        client_cpu_percent: 0.0,
        client_cpu_us_per_cycle: None,
        server_cpu_percent: None,
        servers_cpu_us_per_cycle: None,
        machine_cpu_percent: None,
        own_cpu_percent: None,
        saturated: None,
    }
}

#[test]
fn a_closed_loop_has_its_knee_where_throughput_ends_to_grow() {
    let rows: [(&[f64], Option<usize>); 7] = [
        (&[0.0, 0.0], None),
        (&[10.0, 20.0, 40.0, 41.0, 41.5], Some(2)),
        (&[10.0, 20.0, 40.0, 30.0], Some(2)),
        (&[10.0, 20.0, 40.0], None),
        (&[100.0, 96.0, 97.0], Some(0)),
        (&[10.0, 94.0, 100.0, 99.0], Some(2)),
        (&[10.0], None),
    ];
    for (rates, expected) in rows {
        let levels: Vec<_> =
            (0..).zip(rates).map(|(place, &rate)| level(1 << place, None, rate)).collect();
        assert_eq!(verdict(&levels).knee, expected, "{rates:?}");
    }
}

#[test]
fn a_run_that_ended_early_has_a_knee_only_if_all_loads_were_measured() {
    let levels: Vec<_> = [40.0, 50.0, 50.0].map(|rate| level(1, None, rate)).into();
    let early = ended_early(&levels, 3, [4, 20]);
    assert_eq!((early.knee, early.saturated), (None, None));
    assert_eq!(early.text, "ended early, in measurement 3 of 20");
    let later = ended_early(&levels, 4, [3, 15]);
    assert_eq!(later.knee, Some(1));
    let expected = "ended early, in measurement 4 of 15; knee at 1 in flight, 50 ";
    assert!(later.text.starts_with(expected), "{}", later.text);
    let alone = ended_early(&levels[..1], 1, [1, 1]);
    assert_eq!(alone.text, "ended early, in measurement 1 of 1");
}

#[test]
fn an_open_loop_has_its_knee_at_the_last_rate_that_is_kept_up_with() {
    /// Starts offered and done a second, for each level.
    type Rates = &'static [(u32, f64)];
    let rows: [(Rates, Option<usize>); 4] = [
        (&[(100, 100.0), (200, 198.5), (400, 310.0)], Some(1)),
        (&[(100, 100.0), (200, 200.0)], None),
        (&[(100, 80.0), (200, 80.0)], None),
        (&[(100, 99.0), (200, 190.0), (400, 400.0)], Some(0)),
    ];
    for (rates, expected) in rows {
        let levels: Vec<_> =
            rates.iter().map(|&(rate, done)| level(512, Some(rate), done)).collect();
        assert_eq!(verdict(&levels).knee, expected, "{rates:?}");
    }
}

#[test]
fn what_is_saturated_is_what_most_loads_from_the_knee_on_have_used_up() {
    let mut levels: Vec<_> =
        [40.0, 40.0, 40.0, 40.0].map(|rate| level(1, None, rate)).into_iter().collect();
    assert_eq!(verdict(&levels).saturated, Some(Saturated::Network));
    levels[1].saturated = Some(Saturated::ClientCpu);
    levels[2].saturated = Some(Saturated::ServersCpu);
    levels[3].saturated = Some(Saturated::ServersCpu);
    let verdict = verdict(&levels);
    assert_eq!(verdict.saturated, Some(Saturated::ServersCpu));
    assert_eq!(verdict.text, "knee at 1 in flight, 40 cycles/s; saturated: servers' CPU");
}
