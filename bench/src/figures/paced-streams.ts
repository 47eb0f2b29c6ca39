import type { Contender, LabName } from "../contender.ts";
import { direct } from "../contenders/direct.ts";
import { startNginx } from "../contenders/nginx.ts";
import { startSluice } from "../contenders/sluice.ts";
import { type Figure, figure, middle, ratios } from "../figure.ts";
import { treeMemory } from "../process-tree.ts";
import type { Run } from "../run.ts";
import { targets } from "../targets.ts";
import { warmStreams, watchStreams } from "../watch-streams.ts";

/**
 * Many streams at once, each at its own pace. The sum is the same at every level (10,000 events a second), so that
 * what changes is only how many there are. Every contender is started anew for every run: memory is its own.
 */
const eventsPerSecond = 10_000;

interface Level {
  readonly streams: number;
  readonly bodyBytes: number;
  readonly openPerSecond: number;
}

const levels: Readonly<Record<"quick" | "full", readonly Level[]>> = {
  quick: [
    { streams: 500, bodyBytes: 1024, openPerSecond: 2_000 },
    { streams: 5_000, bodyBytes: 1024, openPerSecond: 2_000 },
  ],
  // The last is a fleet of agents: what a long request leaves behind while its answer runs.
  full: [
    { streams: 500, bodyBytes: 1024, openPerSecond: 2_000 },
    { streams: 2_000, bodyBytes: 1024, openPerSecond: 2_000 },
    { streams: 5_000, bodyBytes: 1024, openPerSecond: 2_000 },
    { streams: 500, bodyBytes: 256 * 1024, openPerSecond: 200 },
  ],
};

interface Outcome {
  readonly delayP99Ms: number;
  readonly cpuMicrosPerEvent: number;
  readonly kbPerStream: number;
  readonly peakMb: number;
  readonly events: number;
}

type Outcomes = Record<LabName, Outcome[]>;

export async function pacedStreams(run: Run): Promise<Figure[]> {
  const quick = run.options.mode === "quick";
  const figures: Figure[] = [];
  for (const level of levels[run.options.mode]) {
    const taken: Outcomes = { direct: [], nginx: [], sluice: [] };
    for (let round = 0; round < (quick ? 1 : 2); round++) {
      for (const start of [async () => direct(run), () => startNginx(run), () => startSluice(run)]) {
        const contender = await start();
        if (contender === null) continue;
        try {
          taken[contender.name].push(await hold(run, contender, level, quick ? 2_500 : 5_000));
        } finally {
          await contender.stop();
        }
      }
    }
    figures.push(...figuresOf(level, taken));
  }
  return figures;
}

function figuresOf({ streams, bodyBytes }: Level, taken: Outcomes): Figure[] {
  const long = bodyBytes > 1024 ? ` of ${bodyBytes / 1024} KB requests` : "";
  const name = `${streams.toLocaleString("en-US")} paced streams${long}`;
  const each = (who: LabName, what: keyof Outcome) => taken[who].map((outcome) => outcome[what]);
  const notes = (what: keyof Outcome, unit: string) =>
    `nginx ${middle(each("nginx", what))}, Sluice ${middle(each("sluice", what))} ${unit}`;
  const cpu = ratios(each("sluice", "cpuMicrosPerEvent"), each("nginx", "cpuMicrosPerEvent"));
  return [
    figure(`${name}: event delay p99`, each("sluice", "delayP99Ms"), {
      unit: "ms",
      target: targets.eventDelayP99Ms,
      note: `direct ${middle(each("direct", "delayP99Ms"))}, nginx ${middle(each("nginx", "delayP99Ms"))} ms`,
    }),
    figure(`${name}: CPU per event, over nginx`, cpu, {
      unit: "×",
      target: targets.cpuOfEvent,
      note: notes("cpuMicrosPerEvent", "µs"),
    }),
    figure(`${name}: memory of each`, each("sluice", "kbPerStream"), {
      unit: "KB",
      target: streams >= 5_000 ? targets.kbOfStream : null,
      note: `nginx ${middle(each("nginx", "kbPerStream"))} KB; Sluice in all at most ${middle(each("sluice", "peakMb"))} MB`,
    }),
  ];
}

/** The streams of one level, in a contender that has already carried a few: what the runtime needs once is not theirs. */
async function hold(
  run: Run,
  contender: Contender,
  { streams, bodyBytes, openPerSecond }: Level,
  windowMs: number,
): Promise<Outcome> {
  await warmStreams(run, contender, { bodyBytes, openPerSecond });
  const before = contender.pid === null ? 0 : treeMemory(contender.pid).residentKb;
  const gapMs = (streams * 1000) / eventsPerSecond;
  const load = { streams, bodyBytes, gapMs, openPerSecond, windowMs };
  const { result, cpuMs, memory } = await watchStreams(run, contender, load);
  return {
    delayP99Ms: result.delay.p99,
    cpuMicrosPerEvent: (cpuMs * 1000) / result.events,
    kbPerStream: (memory.residentKb - before) / streams,
    peakMb: memory.peakKb / 1024,
    events: result.events,
  };
}
