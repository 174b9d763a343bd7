//! What `-h` and `--help` of `redbolt bench` say below the options.

/// Shown below the options by `-h`.
pub(crate) const AFTER: &str = "\
Examples:
  redbolt bench                                    # on this machine
  redbolt bench --nodes db1,db2,db3 --seconds 10s
  redbolt bench --sweep --out run1                 # where is the knee?
  redbolt bench --sweep --baseline run1/run.json   # is it slower?
  redbolt bench --config /etc/redbolt.toml --client --threads 16

--help has all details, and the exit codes.";

/// Shown below the options by `--help`.
pub(crate) const AFTER_LONG: &str = "\
Examples:
  redbolt bench                                    # on this machine
  redbolt bench --nodes db1,db2,db3 --seconds 10s
  redbolt bench --sweep --out run1                 # where is the knee?
  redbolt bench --sweep --baseline run1/run.json   # is it slower?
  redbolt bench --rate 1k..200k --arrivals poisson --hold 2ms
  redbolt bench --resources zipf:1000 --extend 10%
  redbolt bench --in-flight 512 --against raw      # beside sockets
  redbolt bench --trace tpcc:8 --locks each        # transactions
  redbolt bench --config /etc/redbolt.toml --client --threads 16

A cycle acquires one lock and releases it at once. By default no two cycles want the same resource,
as in a service that locks one order, job or user after another; with --resources they contend.
Without nodes, five masters run on this machine for as long as the measurement: valkey-server or
redis-server processes where one is on the PATH, else masters inside this process. Before the load,
the nodes are named with their versions. Given nodes must vote: declare new servers before the first
client, as redbolt bench is, with redbolt init --fresh.

In the table, by each tells how evenly the cycles were divided among the locks in flight, threads or
tasks: the fewest and the most of one, and the shares of the 1st, 50th and 99th of a hundred of
them, where 1 is the mean. Behind failed are the reasons: held is a lock that others had.

With --sweep, or a range of rates, each load is measured in several rounds, and all loads in each
round. The knee of a sweep is the least load that reaches 95 % of the highest throughput. The knee
of a range of rates is the highest rate at which 99 % of the starts that were due had their lock in
time, where a higher rate failed to. The servers are asked for their processor time (INFO); a CPU
that is busy for 90 % of the time is saturated.

--baseline compares throughput, latency and processor time with those of an earlier run at the same
loads. A figure is worse if its change goes beyond --tolerance with 99 % confidence: Welch's
interval over the logarithms of the rounds, each the mean of all loads; of ten rounds and more, a
fifth is left out at both ends (Yuen). Where the interval only reaches beyond --tolerance, the
figure is not sure. Both runs need three rounds at least, and twenty tell more. Change only what is
to be compared, and let nothing else run on the machine. Where client and servers share it, their
processor time is judged by its quotient alone.

--out DIR writes report.html (curves and all figures, for a browser), run.json (everything, in one
schema), series.csv (a line for each slice of each step) and acquire.hlog (the latencies of each
slice, in the log format of HdrHistogram). They are written at the end, all or none. An earlier run
in DIR is not overwritten.

--trace runs transactions of several locks instead of cycles; --in-flight is how many at a time. A
transaction that lacks a lock after --patience releases the others and counts as aborted. All locks
are exclusive: of TPC-C and TATP, a transaction locks the rows that it changes, or the one that it
reads first. --print N writes a trace as text, which file:PATH runs.

Durations are written like 250us, 20ms, 30s, 1.5m. An option that is a bare number is in seconds; a
variable and the file need the unit. A rate is written like 500, 20k or 1.5m.
SIGINT ends a run early, with its figures, which say so.
Given nodes have all settings that the variables REDBOLT_... and the file of --config name, as the
library documents them at Config::from_env; what the measurement itself needs is set by the options.
Masters that are started for the measurement have the settings of the options alone; they are
declared fresh.
Exit codes: 0 measured, 1 worse than the baseline, 64 wrong usage, 69 no quorum of nodes, 70
anything else, 75 no lock was granted because others held them.";
