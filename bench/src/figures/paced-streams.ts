import type { Contender, LabName } from "../contender.ts";
import { direct } from "../contenders/direct.ts";
import { startNginx } from "../contenders/nginx.ts";
import { startSluice } from "../contenders/sluice.ts";
import { type Figure, figure, medianText, ratios } from "../figure.ts";
import { treeMemory } from "../process-tree.ts";
import type { Run } from "../run.ts";
import { targets } from "../targets.ts";
import { warmStreams, watchStreams } from "../watch-streams.ts";

/**
 * Many concurrent streams. The total is 10,000 events per second at every level, so that only the number of streams changes. Every
 * contender is restarted for every run, so that memory is comparable.
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
  // The last two have the shape of agents: long prompts, and responses that stream meanwhile.
  full: [
    { streams: 500, bodyBytes: 1024, openPerSecond: 2_000 },
    { streams: 2_000, bodyBytes: 1024, openPerSecond: 2_000 },
    { streams: 5_000, bodyBytes: 1024, openPerSecond: 2_000 },
    { streams: 500, bodyBytes: 600 * 1024, openPerSecond: 100 },
    { streams: 2_000, bodyBytes: 600 * 1024, openPerSecond: 100 },
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
    const samples: Outcomes = { direct: [], nginx: [], sluice: [] };
    for (let round = 0; round < (quick ? 1 : 2); round++) {
      for (const start of [async () => direct(run), () => startNginx(run), () => startSluice(run)]) {
        const contender = await start();
        if (contender === null) continue;
        try {
          samples[contender.name].push(await hold(run, contender, level, quick ? 2_500 : 5_000));
        } finally {
          await contender.stop();
        }
      }
    }
    figures.push(...figuresOf(level, samples));
  }
  return figures;
}

function figuresOf({ streams, bodyBytes }: Level, taken: Outcomes): Figure[] {
  const long = bodyBytes > 1024 ? ` of ${bodyBytes / 1024} KB requests` : "";
  const name = `${streams.toLocaleString("en-US")} paced streams${long}`;
  const each = (who: LabName, what: keyof Outcome) => taken[who].map((outcome) => outcome[what]);
  const notes = (what: keyof Outcome, unit: string) =>
    `nginx ${medianText(each("nginx", what))}, Sluice ${medianText(each("sluice", what))} ${unit}`;
  const cpu = ratios(each("sluice", "cpuMicrosPerEvent"), each("nginx", "cpuMicrosPerEvent"));
  return [
    figure(`${name}: event delay p99`, each("sluice", "delayP99Ms"), {
      unit: "ms",
      target: targets.eventDelayP99Ms,
      note: `direct ${medianText(each("direct", "delayP99Ms"))}, nginx ${medianText(each("nginx", "delayP99Ms"))} ms`,
    }),
    figure(`${name}: CPU per event, over nginx`, cpu, {
      unit: "×",
      target: targets.cpuOfEvent,
      note: notes("cpuMicrosPerEvent", "µs"),
    }),
    figure(`${name}: memory of each`, each("sluice", "kbPerStream"), {
      unit: "KB",
      target: streams >= 5_000 ? targets.kbOfStream : null,
      note: `nginx ${medianText(each("nginx", "kbPerStream"))} KB; Sluice in all at most ${medianText(each("sluice", "peakMb"))} MB`,
    }),
  ];
}

/** Runs the streams of one level after a few warm-up streams, so that one-time costs of the runtime are not included. */
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
