//! Masters that are far away, with the default settings.

use crate::json::{json, number};
use crate::run::run;
use crate::support::far::FarAway;
use crate::support::servers::Cluster;

#[test]
fn a_lock_takes_one_round_trip_to_the_third_fastest() {
    for (ways, least) in [([30; 5], 60), ([75; 5], 150), ([0, 150, 30, 0, 75], 60)] {
        let cluster = Cluster::start(5);
        let proxies = FarAway::start_all(&cluster.addrs(), &ways);
        let far: Vec<_> = proxies.iter().map(FarAway::addr).collect();
        let found =
            json(run(&["--nodes", &far.join(","), "--seconds=2", "--in-flight=2", "--json"]));
        assert!(number(&found, &["cycles"]) > 0.0, "{ways:?}: {found}");
        let median = number(&found, &["acquire_us", "p50"]);
        assert!(median >= f64::from(least * 1_000), "{ways:?}: {found}");
    }
}
