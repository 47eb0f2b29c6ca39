import type { Contender } from "../contender.ts";
import { startBareBun } from "../contenders/bare-bun.ts";
import { direct } from "../contenders/direct.ts";
import { startNginx } from "../contenders/nginx.ts";
import { peers } from "../contenders/peers.ts";
import { startSluice } from "../contenders/sluice.ts";
import { type Figure, figure, middle, say } from "../figure.ts";
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
 * What others cost on the same machine in the same minutes: bare and governed, as far as each of them can be. All run at
 * once and are asked in turn, so that the machine's moods fall on all of them alike.
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
      if (await peer.isInstalled()) contenders.push(await peer.start(run));
      else missing.push(figure(peer.title, [], { unit: "", note: `not installed: ${peer.install}` }));
    }
    return [
      ...(await wholeAnswers(run, contenders)),
      ...(await added(run, contenders)),
      ...(await streams(run, contenders)),
      ...memories(contenders),
      await ledgerAgainstTruth(
        run,
        contenders.find(({ name }) => name === governed),
      ),
      ...missing,
    ];
  } finally {
    for (const contender of contenders) await contender.stop();
  }
}

const sizes = [
  { size: "1 KB", bodyBytes: 1024, connections: 32 },
  { size: "100 KB", bodyBytes: 100 * 1024, connections: 16 },
  { size: "2 MB", bodyBytes: 2 * 1024 * 1024, connections: 4 },
] as const;

/** As many answers as each can give, of an upstream that answers at once. */
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
    const taken = await sampleInTurn(run, able, quick ? 2 : 4, (contender) => saturate(run, contender, load));
    const micros = (name: string) =>
      (taken.get(name) ?? []).map(({ value, cost }) => (cost.cpuMs * 1000) / value.requests);
    figures.push(
      ...able.map(({ name }) => {
        const rates = (taken.get(name) ?? []).map(({ value }) => value.perSecond);
        const note = `${middle(rates)} calls/s on one core${overGoverned(micros(name), micros(governed), name)}`;
        return figure(`${size}, CPU per call: ${name}`, micros(name), { unit: "µs", note });
      }),
    );
  }
  return figures;
}

/** What each adds to an answer's time, at an upstream that answers at once, and at one that takes 20 ms. */
async function added(run: Run, contenders: readonly Contender[]): Promise<Figure[]> {
  const quick = run.options.mode === "quick";
  const asked = [direct(run), ...contenders];
  const figures: Figure[] = [];
  for (const delayMs of [0, 20]) {
    const load: GentleLoad = {
      bodyBytes: 1024,
      ...(delayMs === 0 ? {} : { delayMs }),
      everyMs: 20 / asked.length,
      inARow: 1,
      count: quick ? 100 : 500,
    };
    const results = await probeInTurn(run, asked, load);
    const base = results.find(({ name }) => name === "direct")?.total;
    const behind = delayMs === 0 ? "" : ` behind an upstream of ${delayMs} ms`;
    for (const { name, total } of results) {
      if (name === "direct" || base === undefined) continue;
      figures.push(
        figure(`Added latency${behind}, p50: ${name}`, [total.p50 - base.p50], {
          unit: "ms",
          note: `p99 ${say(total.p99 - base.p99)} ms`,
        }),
      );
    }
  }
  return figures;
}

/** A thousand events a second over a hundred streams: what the slowest of them carry without falling behind. */
async function streams(run: Run, contenders: readonly Contender[]): Promise<Figure[]> {
  const quick = run.options.mode === "quick";
  const shape = { bodyBytes: 1024, openPerSecond: 200 };
  const load = { ...shape, streams: 100, gapMs: 100, windowMs: quick ? 2_000 : 5_000 };
  const micros = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  const delays = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  const { able, unable } = await whoCan(contenders, "CPU per streamed event", (contender) =>
    warmStreams(run, contender, shape),
  );
  for (let round = 0; round < (quick ? 1 : 3); round++) {
    for (const contender of able) {
      const { result, cpuMs } = await watchStreams(run, contender, load);
      micros.get(contender.name)?.push((cpuMs * 1000) / result.events);
      delays.get(contender.name)?.push(result.delay.p99);
    }
  }
  const figures = able.map(({ name }) => {
    const of = micros.get(name) ?? [];
    const note = `delay p99 ${middle(delays.get(name) ?? [])} ms${overGoverned(of, micros.get(governed) ?? [], name)}`;
    return figure(`CPU per streamed event: ${name}`, of, { unit: "µs", note });
  });
  return [...figures, ...unable];
}

/** Warms each up. One that cannot even do that is not measured, and its line says why. */
async function whoCan(
  contenders: readonly Contender[],
  what: string,
  warm: (contender: Contender) => Promise<unknown>,
): Promise<{ readonly able: readonly Contender[]; readonly unable: readonly Figure[] }> {
  const able: Contender[] = [];
  const unable: Figure[] = [];
  for (const contender of contenders) {
    await warm(contender).then(
      () => able.push(contender),
      (thrown: unknown) => {
        const [note = ""] = String(thrown).split("\n");
        unable.push(figure(`${what}: ${contender.name}`, [], { unit: "µs", note }));
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
    return figure(`Memory after all that: ${name}`, [residentKb / 1024], { unit: "MB", note });
  });
}

function overGoverned(of: readonly number[], ours: readonly number[], name: string): string {
  const [theirs, sluice] = [spread(of)?.median, spread(ours)?.median];
  return name === governed || theirs === undefined || sluice === undefined
    ? ""
    : `; ${say(theirs / sluice)} × Sluice's, governed`;
}
