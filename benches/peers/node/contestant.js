// redlock on ioredis, as its README shows it. Takes the arguments of `redbolt-peers measure` that
// run.sh gives, and prints a row with the same columns; see src/row.rs.
import { parseArgs } from "node:util";
import Redis from "ioredis";
import RedlockModule from "redlock";

const Redlock = RedlockModule.default ?? RedlockModule;
const TTL_MS = 30_000;
const WARM_UP_MS = 200;

const { values: args } = parseArgs({
  options: {
    nodes: { type: "string" },
    "in-flight": { type: "string", default: "512" },
    seconds: { type: "string", default: "1" },
    round: { type: "string", default: "0" },
  },
});
const inFlight = Number(args["in-flight"]);
const nodes = args.nodes.split(",").map((node) => {
  const [host, port] = node.split(":");
  return new Redis(Number(port), host);
});
const redlock = new Redlock(nodes, { retryCount: 0 });

await checkEmpty();
const before = await serverCpu();
const figures = await measure();
await checkEmpty();
figures.splice(8, 0, (((await serverCpu()) - before) / figures.pop()).toFixed(3));
console.log(figures.join(","));
for (const node of nodes) node.disconnect();

// The columns but that of the servers, and the number of all cycles.
async function measure() {
  const warm = performance.now() + WARM_UP_MS;
  const end = warm + Number(args.seconds) * 1000;
  const latencies = [];
  let [cycles, name, since, until] = [0, 0, null, null];

  const snapshot = (at) => {
    const { user, system } = process.cpuUsage();
    return { at, cycles, cpu: user + system };
  };
  const goesOn = (now) => {
    if (!since && now >= warm) {
      since = snapshot(now);
      latencies.length = 0;
    }
    if (!until && now >= end) until = snapshot(now);
    return now < end;
  };
  const cyclesOneByOne = async () => {
    for (let start = performance.now(); goesOn(start); start = performance.now()) {
      const resource = "peers/" + String(name++).padStart(10, "0");
      const lock = await redlock.acquire([resource], TTL_MS);
      latencies.push(performance.now() - start);
      await lock.release();
      cycles += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, cyclesOneByOne));

  const count = until.cycles - since.cycles;
  if (count === 0) throw new Error("no cycle ended within the run");
  const seconds = (until.at - since.at) / 1000;
  latencies.sort((a, b) => a - b);
  const micros = (q) => (latencies[Math.ceil(q * latencies.length) - 1] * 1000).toFixed(1);
  return [
    args.round, "node-redlock", inFlight, 0, seconds.toFixed(3), count,
    (count / seconds).toFixed(1), ((until.cpu - since.cpu) / count).toFixed(3),
    micros(0.5), micros(0.9), micros(0.99), micros(0.999), cycles,
  ];
}

// A key is a lock that somebody forgot.
async function checkEmpty() {
  for (const node of nodes) {
    const keys = await node.dbsize();
    if (keys !== 0) throw new Error(`a node still holds ${keys} keys`);
  }
}

// In microseconds, of all nodes since they started.
async function serverCpu() {
  let sum = 0;
  for (const node of nodes) {
    const info = await node.info("cpu");
    sum += Number(info.match(/used_cpu_user:(.*)/)[1]) + Number(info.match(/used_cpu_sys:(.*)/)[1]);
  }
  return sum * 1e6;
}
