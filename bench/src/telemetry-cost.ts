/**
 * `bun bench/src/telemetry-cost.ts [minutes] [generations]`: CPU time that telemetry adds to a small call, for the whole process
 * (including exports and deferred work) and for the event loop's thread.
 *
 * Four gateways run at the same time: two without telemetry, one with traces, one with traces, metrics and logs. They receive a few
 * hundred calls in turn, forwards and then backwards. The CPU time of each gateway over such a round, also while others were called, is
 * one sample. So each sample has the same conditions for all, and deferred work is included. The difference between the two without
 * telemetry shows the noise and should be about zero. Processes differ slightly from each other, so all four are restarted
 * `generations` times.
 */
import { loadavg } from "node:os";
import { callRequest } from "./call-request.ts";
import { type Child, endChildrenWithUs, startChild } from "./child.ts";
import { type Sluice, startSluice } from "./contenders/sluice.ts";
import { within } from "./deadline.ts";
import { readOptions } from "./options.ts";
import { ProcessTime, type Spent } from "./process-time.ts";
import { machineStolenMs, othersShare, treeCpuMs } from "./process-tree.ts";
import { RawConnection } from "./raw-connection.ts";
import { type Run, startRun } from "./run.ts";
import { bootstrapped, type Interval, quantile, trimmedMean } from "./statistics.ts";

const [minutes = 5.5, generations = 3] = process.argv.slice(2).map(Number);
const variants = ["none", "none again", "traces", "all"] as const;
type Variant = (typeof variants)[number];
/** Consecutive calls to one gateway. Two of these are a sample. */
const sliceCalls = 256;
const connectionsOfEach = 16;
/** Samples with a larger share of stolen CPU time are dropped. */
const stolenShareMax = 0.02;
/** Code becomes faster until the runtime has finished optimizing it. */
const warmRoundsMin = 48;
const warmRoundsMax = 96;
/** Trimmed from both ends before a mean: some samples include a full garbage collection or load of other processes. */
const trimmedShare = 0.2;
const middles: Readonly<Record<string, (samples: Float64Array) => number>> = {
  "trimmed mean": middle,
  median: (samples) => trimmedMean(samples, 0.499),
  mean: (samples) => trimmedMean(samples, 0),
};

/** CPU time per call of each gateway in one sample, in microseconds. */
type Sample = Readonly<Record<Variant, Spent>>;

class Gateway {
  readonly #connections: readonly RawConnection[];
  readonly #request: Buffer;
  readonly #time: ProcessTime;
  readonly sluice: Sluice;

  constructor(sluice: Sluice, connections: readonly RawConnection[]) {
    this.sluice = sluice;
    this.#connections = connections;
    this.#request = callRequest({ port: sluice.port, key: sluice.key, bodyBytes: 1_024 });
    this.#time = new ProcessTime(sluice.pid);
  }

  spent(): Spent {
    return this.#time.read();
  }

  async load(): Promise<void> {
    let left = sliceCalls;
    const work = async (connection: RawConnection): Promise<void> => {
      while (left-- > 0) {
        const { status } = await connection.exchange(this.#request);
        if (status !== 200) throw new Error(`a call returned ${status}`);
      }
    };
    await Promise.all(this.#connections.map(work));
  }

  async stop(): Promise<void> {
    for (const connection of this.#connections) connection.close();
    await this.sluice.stop();
  }
}

type Gateways = Readonly<Record<Variant, Gateway>>;

endChildrenWithUs();
const run = await startRun(readOptions([]));
// Runs on the load's core, not on those of the gateways.
Bun.spawnSync(["taskset", "-a", "-c", "-p", run.cores.load.join(","), String(process.pid)]);
const collector = startChild({ command: run.programs("collector", null), cores: run.cores.upstream });
try {
  await measure(run, collector);
} finally {
  await collector.stop();
  await run.close();
}
process.exit();

async function measure(of: Run, sink: Child): Promise<void> {
  const line = await within(sink.line(), 10_000, "the collector's start");
  const { port } = JSON.parse(line ?? "{}") as { readonly port: number };
  const foreign = othersShare();
  const startedAt = performance.now();
  const groups: Sample[][] = [];
  let dropped = 0;
  for (let generation = 1; generation <= generations; generation++) {
    const gateways = await startAll(of, port);
    const endsAt = startedAt + (minutes * 60_000 * generation) / generations;
    await warmUp(gateways, (performance.now() + endsAt) / 2);
    const samples: Sample[] = [];
    do {
      const sample = await sampleOf(gateways);
      if (sample === null) dropped++;
      else samples.push(sample);
    } while (performance.now() < endsAt);
    groups.push(samples);
    await Promise.all(Object.values(gateways).map((gateway) => gateway.stop()));
    printGeneration(generation, samples);
  }
  const calls = groups.flat().length * sliceCalls * 2;
  console.log(
    `\n${groups.flat().length} samples of ${sliceCalls * 2} calls of each, ${dropped} left out (stolen); others used ` +
      `${Math.round(foreign() * 100)} % of the machine, load ${loadavg()
        .map((load) => load.toFixed(1))
        .join(", ")}`,
  );
  printAll(groups);
  // Approximate, because it includes the warm-up calls.
  console.log(
    `the collector itself, which is in none of these: ${((treeCpuMs(sink.pid) * 1_000) / calls).toFixed(1)} µs a call`,
  );
}

async function startAll(of: Run, collectorPort: number): Promise<Gateways> {
  const sluices: Partial<Record<Variant, Sluice>> = {};
  for (const name of variants) {
    sluices[name] = await startSluice(of, { env: environmentOf(name, `http://127.0.0.1:${collectorPort}`) });
  }
  // Connects after all gateways have started, because idle connections are closed.
  const started: Partial<Record<Variant, Gateway>> = {};
  for (const name of variants) {
    const sluice = sluices[name] as Sluice;
    const opening = Array.from({ length: connectionsOfEach }, () => RawConnection.open(sluice.port));
    started[name] = new Gateway(sluice, await Promise.all(opening));
  }
  return started as Gateways;
}

/** A typical setup with the default batch delays and sizes. */
function environmentOf(name: Variant, endpoint: string): Record<string, string> {
  const common = { SLUICE_LOG_LEVEL: "info" };
  if (name === "traces") return { ...common, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${endpoint}/v1/traces` };
  return name === "all" ? { ...common, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } : common;
}

/** Runs until the last rounds are not faster than the ones before them, or until `lateAt`. */
async function warmUp(gateways: Gateways, lateAt: number): Promise<void> {
  const costs: number[] = [];
  for (let round = 1; round <= warmRoundsMax && performance.now() < lateAt; round++) {
    const sample = await sampleOf(gateways);
    if (sample !== null) costs.push(Math.min(...variants.map((name) => sample[name].loop)));
    if (round < warmRoundsMin || round % 8 !== 0) continue;
    const least = (from: number, to: number): number => quantile(costs.slice(from, to).sort(ascending), 0.25);
    if (least(-8, costs.length) > least(-16, -8) * 0.98) return;
  }
}

/** null: the host stole CPU time meanwhile. */
async function sampleOf(gateways: Gateways): Promise<Sample | null> {
  const order = shuffled(variants);
  const stolenMs = machineStolenMs();
  const startedAt = performance.now();
  const before = spentOf(gateways);
  for (const name of [...order, ...order.toReversed()]) await gateways[name].load();
  const after = spentOf(gateways);
  const wallMs = (performance.now() - startedAt) * navigator.hardwareConcurrency;
  if ((machineStolenMs() - stolenMs) / wallMs > stolenShareMax) return null;
  return record((name) => ({
    loop: (after[name].loop - before[name].loop) / (sliceCalls * 2),
    whole: (after[name].whole - before[name].whole) / (sliceCalls * 2),
  }));
}

function spentOf(gateways: Gateways): Readonly<Record<Variant, Spent>> {
  return record((name) => gateways[name].spent());
}

function record<Value>(of: (name: Variant) => Value): Readonly<Record<Variant, Value>> {
  return Object.fromEntries(variants.map((name) => [name, of(name)])) as Record<Variant, Value>;
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}

function ascending(one: number, other: number): number {
  return one - other;
}

type What = keyof Spent;

/** Difference from the mean of the two without telemetry; for these two, the difference between them. */
function differenceOf(sample: Sample, name: Variant, what: What): number {
  if (name === "none again") return sample[name][what] - sample.none[what];
  return sample[name][what] - baseOf(sample, what);
}

function baseOf(sample: Sample, what: What): number {
  return (sample.none[what] + sample["none again"][what]) / 2;
}

function printGeneration(generation: number, samples: readonly Sample[]): void {
  const parts = (["whole", "loop"] as const).map((what) => {
    const base = middle(samples.map((sample) => baseOf(sample, what)));
    const over = variants.slice(1).map((name) => {
      const difference = middle(samples.map((sample) => differenceOf(sample, name, what)));
      return `${name} ${signed(difference)}`;
    });
    return `${what} ${base.toFixed(1)} µs (${over.join(", ")})`;
  });
  console.log(`generation ${generation}, ${samples.length} samples: ${parts.join("; ")}`);
}

function printAll(groups: readonly (readonly Sample[])[]): void {
  for (const what of ["whole", "loop"] as const) {
    const base = middle(groups.flat().map((sample) => baseOf(sample, what)));
    console.log(
      `\n${what === "whole" ? "whole process" : "event loop's thread"}: ${base.toFixed(1)} µs a call without telemetry`,
    );
    for (const name of variants.slice(1)) {
      const differences = groups.map((samples) => samples.map((sample) => differenceOf(sample, name, what)));
      const parts = Object.entries(middles).map(
        ([how, of]) => `${how} ${intervalText(bootstrapped(differences, of), base)}`,
      );
      console.log(`  ${name === "none again" ? "none over none" : `${name} over none`}: ${parts.join("; ")}`);
    }
  }
}

function middle(samples: ArrayLike<number>): number {
  return trimmedMean(samples, trimmedShare);
}

function intervalText({ value, low, high }: Interval, base: number): string {
  const share = (part: number): string => ((part / base) * 100).toFixed(1);
  return `${signed(value)} µs (${signed(low)} to ${signed(high)}), ${share(value)} % (${share(low)} to ${share(high)})`;
}

function signed(value: number): string {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
}
