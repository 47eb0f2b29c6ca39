import type { Contender } from "../contender.ts";
import { startBareBun } from "../contenders/bare-bun.ts";
import { direct } from "../contenders/direct.ts";
import { startNginx } from "../contenders/nginx.ts";
import { peers } from "../contenders/peers.ts";
import { startSluice } from "../contenders/sluice.ts";
import { type Figure, figure, formatNumber, medianText } from "../figure.ts";
import { sampleInTurn } from "../lab.ts";
import { ledgerAgainstTruth } from "../ledger-against-truth.ts";
import { type GentleLoad, probeInTurn } from "../probe-contenders.ts";
import { treeMemory } from "../process-tree.ts";
import type { Run } from "../run.ts";
import { saturate } from "../saturate.ts";
import { spread } from "../statistics.ts";
import { warmStreams, watchStreams } from "../watch-streams.ts";

const governed = "Sluice, governed";

/**
 * Cost of other gateways on the same machine at the same time: without and with limits, as far as each supports them. All of them run
 * at once and are measured in turn, so that other load affects each of them equally.
 */
export async function comparePeers(run: Run): Promise<Figure[]> {
  const missing: Figure[] = [];
  const contenders: Contender[] = [];
  try {
    for (const start of [startNginx, startBareBun]) {
      const contender: Contender | null = await start(run);
      if (contender !== null) contenders.push({ ...contender, name: contender.name.replace("nginx", "nginx, bare") });
    }
    contenders.push({ ...(await startSluice(run, { bare: true })), name: "Sluice, one key" });
    contenders.push({ ...(await startSluice(run)), name: governed });
    for (const peer of peers) {
      if (!(await peer.isInstalled())) {
        missing.push(figure(peer.title, [], { unit: "", note: `not installed: ${peer.install}` }));
        continue;
      }
      await peer.start(run).then(
        (contender) => contenders.push(contender),
        (thrown: unknown) => missing.push(unmeasured(peer.title, thrown)),
      );
    }
    const ledger = contenders.find(({ name }) => name === governed);
    return [
      ...(await part("Whole answers", () => wholeAnswers(run, contenders))),
      ...(await part("Added latency", () => added(run, contenders))),
      ...(await part("Streamed events", () => streams(run, contenders))),
      ...memories(contenders),
      ...(await part("The ledger against the upstream", async () => [await ledgerAgainstTruth(run, ledger)])),
      ...missing,
    ];
  } finally {
    for (const contender of contenders) await contender.stop();
  }
}

/** Reports a failure of one part in its place, and continues with the others. */
async function part(name: string, take: () => Promise<Figure[]>): Promise<Figure[]> {
  return await take().catch((thrown: unknown) => [unmeasured(name, thrown)]);
}

function unmeasured(name: string, thrown: unknown): Figure {
  const [note = ""] = String(thrown).split("\n");
  return figure(name, [], { unit: "µs", note });
}

const sizes = [
  { size: "1 KB", bodyBytes: 1024, connections: 32 },
  { size: "100 KB", bodyBytes: 100 * 1024, connections: 16 },
  { size: "2 MB", bodyBytes: 2 * 1024 * 1024, connections: 4 },
] as const;

/** Maximum throughput of each, with an upstream that responds immediately. */
async function wholeAnswers(run: Run, contenders: readonly Contender[]): Promise<Figure[]> {
  const quick = run.options.mode === "quick";
  const figures: Figure[] = [];
  for (const { size, bodyBytes, connections } of sizes) {
    const load = { bodyBytes, connections, seconds: 3 };
    const warm = { ...load, seconds: quick ? 3 : 5 };
    const { able, unable } = await whoCan(contenders, `${size}, CPU per call`, (contender) =>
      saturate(run, contender, warm),
    );
    figures.push(...unable);
    const failed = new Map<string, unknown>();
    const results = await sampleInTurn(run, able, quick ? 2 : 4, async (contender) => {
      if (failed.has(contender.name)) return null;
      return await saturate(run, contender, load).catch((thrown: unknown) => {
        failed.set(contender.name, thrown);
        return null;
      });
    });
    const samples = (name: string) =>
      (results.get(name) ?? []).flatMap(({ value, cost }) => (value === null ? [] : [{ value, cost }]));
    const micros = (name: string) => samples(name).map(({ value, cost }) => (cost.cpuMs * 1000) / value.requests);
    figures.push(...[...failed].map(([name, thrown]) => unmeasured(`${size}, CPU per call: ${name}`, thrown)));
    figures.push(
      ...able
        .filter(({ name }) => !failed.has(name))
        .map(({ name }) => {
          const rates = samples(name).map(({ value }) => value.perSecond);
          const note = `${medianText(rates)} calls/s on one core${overGoverned(micros(name), micros(governed), name)}`;
          return figure(`${size}, CPU per call: ${name}`, micros(name), { unit: "µs", note });
        }),
    );
  }
  return figures;
}

/** Latency that each adds, with an upstream that responds immediately and one that takes 20 ms. */
async function added(run: Run, contenders: readonly Contender[]): Promise<Figure[]> {
  const quick = run.options.mode === "quick";
  const all = [direct(run), ...contenders];
  const figures: Figure[] = [];
  for (const delayMs of [0, 20]) {
    const load: GentleLoad = {
      bodyBytes: 1024,
      ...(delayMs === 0 ? {} : { delayMs }),
      everyMs: 20 / all.length,
      inARow: 1,
      count: quick ? 100 : 500,
    };
    const results = await probeInTurn(run, all, load);
    const base = results.find(({ name }) => name === "direct")?.total;
    const behind = delayMs === 0 ? "" : ` behind an upstream of ${delayMs} ms`;
    for (const { name, total } of results) {
      if (name === "direct" || base === undefined) continue;
      figures.push(
        figure(`Added latency${behind}, p50: ${name}`, [total.p50 - base.p50], {
          unit: "ms",
          note: `p99 ${formatNumber(total.p99 - base.p99)} ms`,
        }),
      );
    }
  }
  return figures;
}

/** A thousand events per second over a hundred streams, which every gateway can forward without falling behind. */
async function streams(run: Run, contenders: readonly Contender[]): Promise<Figure[]> {
  const quick = run.options.mode === "quick";
  const shape = { bodyBytes: 1024, openPerSecond: 200 };
  const load = { ...shape, streams: 100, gapMs: 100, windowMs: quick ? 2_000 : 5_000 };
  const micros = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  const delays = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  const { able, unable } = await whoCan(contenders, "CPU per streamed event", (contender) =>
    warmStreams(run, contender, shape),
  );
  const failed = new Set<string>();
  for (let round = 0; round < (quick ? 1 : 2); round++) {
    for (const contender of able) {
      const { name } = contender;
      if (failed.has(name)) continue;
      const watched = await watchStreams(run, contender, load).catch((thrown: unknown) => {
        failed.add(name);
        unable.push(unmeasured(`CPU per streamed event: ${name}`, thrown));
        return null;
      });
      if (watched === null) continue;
      micros.get(name)?.push((watched.cpuMs * 1000) / watched.result.events);
      delays.get(name)?.push(watched.result.delay.p99);
    }
  }
  const counted = able.filter(({ name }) => !failed.has(name));
  const figures = counted.map(({ name }) => {
    const of = micros.get(name) ?? [];
    const note = `delay p99 ${medianText(delays.get(name) ?? [])} ms${overGoverned(of, micros.get(governed) ?? [], name)}`;
    return figure(`CPU per streamed event: ${name}`, of, { unit: "µs", note });
  });
  return [...figures, ...unable];
}

/** Warms each up. If that fails, it is not measured, and its line has the reason. */
async function whoCan(
  contenders: readonly Contender[],
  what: string,
  warm: (contender: Contender) => Promise<unknown>,
): Promise<{ readonly able: readonly Contender[]; readonly unable: Figure[] }> {
  const able: Contender[] = [];
  const unable: Figure[] = [];
  for (const contender of contenders) {
    await warm(contender).then(
      () => able.push(contender),
      (thrown: unknown) => {
        unable.push(unmeasured(`${what}: ${contender.name}`, thrown));
      },
    );
  }
  return { able, unable };
}

function memories(contenders: readonly Contender[]): Figure[] {
  return contenders.map(({ name, pid }) => {
    const { residentKb, peakKb } = treeMemory(pid ?? 0);
    const governs = peers.find(({ title }) => title === name)?.governs;
    const note = `at most ${Math.round(peakKb / 1024)} MB${governs === undefined ? "" : `; ${governs}`}`;
    return figure(`Memory afterwards: ${name}`, [residentKb / 1024], { unit: "MB", note });
  });
}

function overGoverned(of: readonly number[], ours: readonly number[], name: string): string {
  const [theirs, sluice] = [spread(of)?.median, spread(ours)?.median];
  return name === governed || theirs === undefined || sluice === undefined
    ? ""
    : `; ${formatNumber(theirs / sluice)} × Sluice's, governed`;
}
