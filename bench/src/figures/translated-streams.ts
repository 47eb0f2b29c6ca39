import { benchModel, type Caller, messagesModel } from "../call-request.ts";
import { type Sluice, startSluice } from "../contenders/sluice.ts";
import { type Figure, figure, medianText, ratios } from "../figure.ts";
import { profileDirectory } from "../lab.ts";
import type { Run } from "../run.ts";
import { targets } from "../targets.ts";
import { warmStreams, watchStreams } from "../watch-streams.ts";

/**
 * Cost of translating a stream: the same paced streams through one Sluice, with and without translation between dialects, in turn.
 */
interface Route {
  readonly name: string;
  readonly caller: Caller;
  readonly model: string;
}

interface Pairing {
  readonly native: Route;
  readonly translated: readonly Route[];
}

const pairings: readonly Pairing[] = [
  {
    native: { name: "chat", caller: "chat", model: benchModel },
    translated: [
      { name: "messages caller, chat upstream", caller: "messages", model: benchModel },
      { name: "responses caller, chat upstream", caller: "responses", model: benchModel },
    ],
  },
  {
    native: { name: "messages", caller: "messages", model: messagesModel },
    translated: [{ name: "chat caller, messages upstream", caller: "chat", model: messagesModel }],
  },
];

const streams = 500;
const eventsPerSecond = 10_000;
const openPerSecond = 2_000;
const bodyBytes = 1024;

interface Outcome {
  readonly cpuMicros: number;
  readonly delayP99Ms: number;
}

export async function translatedStreams(run: Run): Promise<Figure[]> {
  const quick = run.options.mode === "quick";
  const routes = pairings.flatMap(({ native, translated }) => [native, ...translated]);
  const samples = new Map<Route, Outcome[]>(routes.map((route) => [route, []]));
  const sluice = await startSluice(run, run.options.profile ? { profileDirectory: profileDirectory() } : {});
  try {
    for (const { caller, model } of routes) await warmStreams(run, sluice, { bodyBytes, openPerSecond, caller, model });
    for (let round = 0; round < (quick ? 2 : 3); round++) {
      for (const route of routes)
        samples.get(route)?.push(await hold(run, sluice, { route, windowMs: quick ? 2_500 : 3_500 }));
    }
  } finally {
    await sluice.stop();
  }
  return pairings.flatMap(({ native, translated }) =>
    translated.map((route) => figureOf(route, native, (who) => samples.get(who) ?? [])),
  );
}

function figureOf(route: Route, native: Route, of: (route: Route) => readonly Outcome[]): Figure {
  const each = (who: Route, what: keyof Outcome) => of(who).map((outcome) => outcome[what]);
  return figure(
    `CPU per translated event (${route.name}), over native ${native.name}`,
    ratios(each(route, "cpuMicros"), each(native, "cpuMicros")),
    {
      unit: "×",
      target: targets.cpuOfTranslatedEvent,
      note:
        `native ${medianText(each(native, "cpuMicros"))}, translated ${medianText(each(route, "cpuMicros"))} µs; ` +
        `event delay p99 ${medianText(each(native, "delayP99Ms"))} and ${medianText(each(route, "delayP99Ms"))} ms`,
    },
  );
}

interface Hold {
  readonly route: Route;
  readonly windowMs: number;
}

async function hold(run: Run, sluice: Sluice, { route, windowMs }: Hold): Promise<Outcome> {
  const gapMs = (streams * 1000) / eventsPerSecond;
  const { caller, model } = route;
  const load = { streams, bodyBytes, gapMs, openPerSecond, windowMs, caller, model };
  const { result, cpuMs } = await watchStreams(run, sluice, load);
  return { cpuMicros: (cpuMs * 1000) / result.events, delayP99Ms: result.delay.p99 };
}
