"""redlock-py, as its README shows it. It asks one node after the other and blocks, so there is one
cycle at a time. Takes the arguments of `redbolt-peers measure` that run.sh gives, and prints a row
with the same columns; see src/row.rs.
"""

import argparse
import math
import time

import redis
from redlock import Redlock

TTL_MS = 30_000
WARM_UP_S = 0.2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", required=True)
    parser.add_argument("--in-flight", type=int, choices=[1], default=1)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--round", default="0")
    args = parser.parse_args()
    nodes = [dict(zip(("host", "port"), node.split(":"))) for node in args.nodes.split(",")]
    check_empty(nodes)
    before = server_cpu(nodes)
    figures, cycles = measure(Redlock(nodes, retry_count=1), args)
    check_empty(nodes)
    figures.insert(8, f"{(server_cpu(nodes) - before) * 1e6 / cycles:.3f}")
    print(",".join(map(str, figures)))


def measure(redlock, args):
    """The columns but that of the servers, and the number of all cycles."""
    warm = time.perf_counter() + WARM_UP_S
    end = warm + args.seconds
    since, name, latencies = None, 0, []
    while (start := time.perf_counter()) < end:
        if since is None and start >= warm:
            since, latencies = (start, time.process_time()), []
        lock = redlock.lock(f"peers/{name:010}", TTL_MS)
        latencies.append(time.perf_counter() - start)
        if not lock:
            raise SystemExit("a lock that nobody else wants was not acquired")
        redlock.unlock(lock)
        name += 1
    seconds, cpu = start - since[0], time.process_time() - since[1]
    count = len(latencies)
    latencies.sort()
    micros = [latencies[math.ceil(q * count) - 1] * 1e6 for q in (0.5, 0.9, 0.99, 0.999)]
    figures = [f"{seconds:.3f}", count, f"{count / seconds:.1f}", f"{cpu * 1e6 / count:.3f}"]
    figures += [f"{value:.1f}" for value in micros]
    return [args.round, "redlock-py", 1, 0, *figures], name


def check_empty(nodes):
    """A key is a lock that somebody forgot."""
    for node in nodes:
        keys = redis.Redis(**node).dbsize()
        if keys:
            raise SystemExit(f"a node still holds {keys} keys")


def server_cpu(nodes):
    """In seconds, of all nodes since they started."""
    infos = [redis.Redis(**node).info("cpu") for node in nodes]
    return sum(info["used_cpu_user"] + info["used_cpu_sys"] for info in infos)


main()
