import { direct } from "../contenders/direct.ts";
import { type Sluice, startSluice } from "../contenders/sluice.ts";
import { differences, type Figure, figure, middle, ratios } from "../figure.ts";
import { profileDirectory } from "../lab.ts";
import { measure } from "../measure.ts";
import { runProbe } from "../probe-contenders.ts";
import { treeCpuMs } from "../process-tree.ts";
import type { Run } from "../run.ts";
import { saturate } from "../saturate.ts";
import { type ServersCpu, type SharedServers, startSharedServers } from "../shared-servers.ts";

/**
 * The same governed calls through the embedded default and through gateways with PostgreSQL and Redis, in turn: one whose limits
 * are large, and so leased in shares, and one with a concurrency of a few, of which every call asks Redis.
 */
type Name = "embedded" | "leased" | "asked";

interface Contestant {
  readonly name: Name;
  readonly sluice: Sluice;
  readonly samples: Sample[];
}

/** Microseconds of processor time a call: of the gateway, and of the servers beside it. */
interface Sample extends ServersCpu {
  readonly gateway: number;
  readonly perSecond: number;
}

const connections = 8;
/** So many places are too few to be leased, and enough for callers whose call ends a moment after its answer. */
const fewPlaces = 19;
const idleMs = 30_000;

export async function sharedLimits(run: Run): Promise<Figure[]> {
  const servers = await startSharedServers(run);
  const started: Contestant[] = [];
  try {
    const begin = async (name: Name): Promise<void> => {
      const env = name === "embedded" ? {} : await servers.environment();
      const profile = run.options.profile ? { profileDirectory: `${profileDirectory()}/${name}` } : {};
      const limits = name === "asked" ? { concurrency: fewPlaces } : {};
      started.push({ name, sluice: await startSluice(run, { env, ...limits, ...profile }), samples: [] });
    };
    for (const name of ["embedded", "leased", "asked"] as const) await begin(name);
    await takeCosts(run, servers, started);
    return [
      ...costFigures(started),
      ...(await latencyFigures(run, started)),
      ...(await idleFigures(run, servers, started)),
    ];
  } finally {
    for (const { sluice } of started) await sluice.stop();
    await servers.stop();
  }
}

async function takeCosts(run: Run, servers: SharedServers, contestants: readonly Contestant[]): Promise<void> {
  const quick = run.options.mode === "quick";
  const load = { bodyBytes: 1024, connections, seconds: quick ? 1 : 3 };
  for (const { sluice } of contestants) await saturate(run, sluice, { ...load, seconds: quick ? 2 : 6 });
  for (let round = 0; round < (quick ? 5 : 7); round++) {
    // The order turns round, so that what the first of a round does to the machine falls on all alike.
    for (const { sluice, samples } of round % 2 === 0 ? contestants : contestants.toReversed()) {
      const sample = await run.noise.undisturbed(async () => {
        const before = servers.cpuMs();
        const { value, cost } = await measure(sluice, () => saturate(run, sluice, load));
        const after = servers.cpuMs();
        const each = (ms: number): number => (ms * 1_000) / value.requests;
        run.noise.shares.push(cost.foreignShare);
        return {
          gateway: each(cost.cpuMs),
          postgres: each(after.postgres - before.postgres),
          redis: each(after.redis - before.redis),
          perSecond: value.perSecond,
        };
      });
      samples.push(sample);
    }
  }
}

function costFigures(contestants: readonly Contestant[]): Figure[] {
  const of = (name: Name, what: keyof Sample): number[] =>
    contestants.find((one) => one.name === name)?.samples.map((sample) => sample[what]) ?? [];
  const compared = (name: Name, words: string, target: number | null): Figure =>
    figure(
      `CPU of the gateway per governed 1 KB call, ${words}, over embedded`,
      ratios(of(name, "gateway"), of("embedded", "gateway")),
      {
        unit: "×",
        ...(target === null ? {} : { target: { most: target } }),
        note:
          `embedded ${middle(of("embedded", "gateway"))} µs, this ${middle(of(name, "gateway"))}; ` +
          `PostgreSQL's own ${middle(of(name, "postgres"))}, Redis's own ${middle(of(name, "redis"))}; ` +
          `${middle(of("embedded", "perSecond"))} and ${middle(of(name, "perSecond"))} calls/s`,
      },
    );
  return [
    compared("leased", "PostgreSQL and Redis, limits leased", 1.25),
    compared("asked", "PostgreSQL and Redis, small limits that every call asks for", null),
  ];
}

/** Each is asked 50 times a second. */
async function latencyFigures(run: Run, contestants: readonly Contestant[]): Promise<Figure[]> {
  const quick = run.options.mode === "quick";
  const targets = [
    ...contestants.map(({ name, sluice: { port, key } }) => ({ name: name as string, port, key, bodyBytes: 1024 })),
    { ...direct(run), name: "direct", bodyBytes: 1024 },
  ].map(({ name, port, key, bodyBytes }) => ({ name, port, key, bodyBytes }));
  const lane = { targets, everyMs: 20 / targets.length, inARow: 1, count: quick ? 200 : 500, warmUp: 100 };
  const times = new Map<string, Record<"p50" | "p99", number[]>>(
    targets.map(({ name }) => [name, { p50: [], p99: [] }]),
  );
  for (let round = 0; round < (quick ? 2 : 3); round++) {
    for (const { name, total } of await runProbe(run, [lane], (lane.count + lane.warmUp) * 20 * 2)) {
      for (const part of ["p50", "p99"] as const) times.get(name)?.[part].push(total[part]);
    }
  }
  const of = (name: string, part: "p50" | "p99"): number[] => times.get(name)?.[part] ?? [];
  return (["leased", "asked"] as const).flatMap((name) =>
    (["p50", "p99"] as const).map((part) =>
      figure(
        `Added latency at 50 requests/s, ${name === "leased" ? "limits leased" : "small limits"}, over embedded, ${part}`,
        differences(of(name, part), of("embedded", part)),
        {
          unit: "ms",
          ...(name === "leased" && part === "p99" ? { target: { most: 2 } } : {}),
          note: `direct ${middle(of("direct", part))}, embedded ${middle(of("embedded", part))}, this ${middle(of(name, part))} ms`,
        },
      ),
    ),
  );
}

/** What each uses while nobody calls. */
async function idleFigures(run: Run, servers: SharedServers, contestants: readonly Contestant[]): Promise<Figure[]> {
  // What the load left behind is done: shares go back, connections that nobody uses are closed, and compiled code is let go of.
  await Bun.sleep(run.options.mode === "quick" ? 5_000 : 130_000);
  const before = {
    servers: servers.cpuMs(),
    gateways: contestants.map(({ sluice }) => treeCpuMs(sluice.pid)),
    at: performance.now(),
  };
  await Bun.sleep(idleMs);
  const percent = (ms: number): number => (100 * ms) / (performance.now() - before.at);
  const after = servers.cpuMs();
  const two = `PostgreSQL ${percent(after.postgres - before.servers.postgres).toFixed(2)} %, Redis ${percent(after.redis - before.servers.redis).toFixed(2)} %, for two gateways`;
  return contestants.map(({ name, sluice }, index) =>
    figure(
      `Idle: processor of the gateway, ${name}`,
      [percent(treeCpuMs(sluice.pid) - (before.gateways[index] ?? 0))],
      {
        unit: "% of a core",
        target: { most: 0.5 },
        note: name === "embedded" ? "" : two,
      },
    ),
  );
}
