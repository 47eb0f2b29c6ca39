import { availableParallelism } from "node:os";
import { join } from "node:path";
import { bounds, type ConfigSnapshot } from "#core/index.ts";
import { matches } from "#identity/index.ts";
import { createExplainStore, createSpool } from "#storage/index.ts";
import { systemChance, WorkerPool } from "#system/index.ts";
import { openCallerMemory } from "./machine-memory.ts";
import { openMedia } from "./media.ts";
import type { Base } from "./open-base.ts";
import type { Data } from "./open-data.ts";
import { openExplainer } from "./open-explainer.ts";
import type { Governance } from "./open-governance.ts";
import { wireCalls } from "./wire-calls.ts";

/** Work on bodies: how long one piece may take with its wait, how many wait, when an unasked thread ends. */
const bodyWorkMs = 30_000;
const bodyWorkWaitingMax = 256;
const bodyWorkIdleMs = 60_000;

/** A piece on so many bytes may take long: there is always a thread that none of these has. One that waited so long goes first. */
const bodyWorkLongBytes = 4 * 1024 * 1024;
const bodyWorkPatienceMs = 2_000;
const bodyWorkThreadsMax = 4;

export type Calls = Awaited<ReturnType<typeof openCalls>>;

/** Opens what makes calls of models, and what lasts longer than a call: video tasks, background responses and assets. */
export async function openCalls(base: Base, data: Data, governance: Governance) {
  const { options, environment, control, configSnapshot, ending, clock, ids } = base;
  const { journal, rest } = data;
  const { admission, steady } = governance;
  const explainer = openExplainer({ ...base, writer: options.explainWriter, content: base.contentSink });
  ending.defer("explanations", () => explainer.close(bounds.lastBytesMs));
  const { memory, spoolBytes, connections } = openCallerMemory(environment, clock);
  const offload = openBodyThreads(base);
  ending.defer("threads for bodies", () => offload.close());
  const { relay, settled, ...wired } = wireCalls({
    ...{
      transport: base.transport,
      observer: base.observer,
      clock,
      ids,
      steady,
      chance: systemChance,
      ...base.tracing,
    },
    ...{ admission, journal, explainer, memory, offload, objectStore: control.objectStore },
    configSnapshot: () => configSnapshot.current,
    sharesAccount: sharedAccounts(() => configSnapshot.current),
    sharesLedger: control.database.flavour.name === "postgres",
    background: () => media.videos.responses,
    probes: true,
  });
  ending.defer("refused calls", () => wired.recorder.flush());
  rest.unless(() => relay.liveStreams > 0);
  const spooling = { directory: join(environment.dataDir, "spool"), memoryBytesMax: spoolBytes };
  const spool = createSpool({ ...spooling, nextName: () => ids.next("spool_") });
  const media = openMedia({ ...base, ...wired, admission, journal, spool, explainer, memory, observer: settled });
  ending.defer("videos and assets", () => media.stop(), bounds.endStepMsMax);
  await media.start();
  const explain = createExplainStore(control.database, clock);
  return { ...wired, relay, explainer, explain, memory, connections, spool, media };
}

function openBodyThreads({ clock, observer }: Pick<Base, "clock" | "observer">): WorkerPool {
  return new WorkerPool({
    entry: new URL("./body-worker.ts", import.meta.url),
    name: "bodies",
    threads: Math.min(bodyWorkThreadsMax, Math.max(2, availableParallelism() - 1)),
    waitingMax: bodyWorkWaitingMax,
    jobMs: bodyWorkMs,
    idleMs: bodyWorkIdleMs,
    longBytes: bodyWorkLongBytes,
    patienceMs: bodyWorkPatienceMs,
    clock,
    observer,
  });
}

/** Whether calls of more than one workspace can reach an account, by what their grants say now. */
function sharedAccounts(configSnapshot: () => ConfigSnapshot): (providerId: string) => boolean {
  /** By snapshot: a change brings a new one. */
  const known = new WeakMap<ConfigSnapshot, Map<string, boolean>>();
  return (providerId) => {
    const now = configSnapshot();
    let answers = known.get(now);
    if (answers === undefined) {
      answers = new Map();
      known.set(now, answers);
    }
    let shared = answers.get(providerId);
    if (shared === undefined) {
      shared = isShared(now, providerId);
      answers.set(providerId, shared);
    }
    return shared;
  };
}

function isShared({ models, workspaces }: ConfigSnapshot, providerId: string): boolean {
  const names = [...models.values()]
    .filter(({ deployments }) => deployments.some(({ provider }) => provider.id === providerId))
    .map(({ name }) => name);
  let reaching = 0;
  for (const { models: patterns, passThrough } of workspaces.values()) {
    if (passThrough.includes(providerId) || names.some((name) => matches(patterns, name))) reaching++;
    if (reaching > 1) return true;
  }
  return false;
}
