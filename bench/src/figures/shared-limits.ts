import { direct } from "../contenders/direct.ts";
import { type Sluice, startSluice } from "../contenders/sluice.ts";
import { differences, type Figure, figure, medianText, ratios } from "../figure.ts";
import { profileDirectory } from "../lab.ts";
import { measure } from "../measure.ts";
import { runProbe } from "../probe-contenders.ts";
import { treeCpuMs } from "../process-tree.ts";
import type { Run } from "../run.ts";
import { saturate } from "../saturate.ts";
import { type ServersCpu, type SharedServers, startSharedServers } from "../shared-servers.ts";

/**
 * The same calls through the default setup and through gateways with PostgreSQL and Redis, in turn: one with large limits, which are
 * leased in shares, and one with a small concurrency limit, for which every call needs Redis.
 */
type Name = "embedded" | "leased" | "asked";

interface Contestant {
  readonly name: Name;
  readonly sluice: Sluice;
  readonly samples: Sample[];
}

/** CPU time per call in microseconds, of the gateway and of its servers. */
interface Sample extends ServersCpu {
  readonly gateway: number;
  readonly perSecond: number;
}

const connections = 8;
/** Too few to be leased, but enough for these callers. A call ends a moment after its response. */
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
    // The order alternates, so that no contender is always the first.
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
          `embedded ${medianText(of("embedded", "gateway"))} µs, this ${medianText(of(name, "gateway"))}; ` +
          `PostgreSQL's own ${medianText(of(name, "postgres"))}, Redis's own ${medianText(of(name, "redis"))}; ` +
          `${medianText(of("embedded", "perSecond"))} and ${medianText(of(name, "perSecond"))} calls/s`,
      },
    );
  return [
    compared("leased", "PostgreSQL and Redis, limits leased", 1.25),
    compared("asked", "PostgreSQL and Redis, small limits that every call asks for", null),
  ];
}

/** Each receives 50 requests per second. */
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
          note: `direct ${medianText(of("direct", part))}, embedded ${medianText(of("embedded", part))}, this ${medianText(of(name, part))} ms`,
        },
      ),
    ),
  );
}

/** CPU of each while idle. */
async function idleFigures(run: Run, servers: SharedServers, contestants: readonly Contestant[]): Promise<Figure[]> {
  // Waits until leased shares are returned, idle connections are closed and compiled code is released.
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
    figure(`Idle: CPU of the gateway, ${name}`, [percent(treeCpuMs(sluice.pid) - (before.gateways[index] ?? 0))], {
      unit: "% of a core",
      target: { most: 0.5 },
      note: name === "embedded" ? "" : two,
    }),
  );
}
