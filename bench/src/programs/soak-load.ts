import { type CallShape, callRequest, faultyModel, messagesModel } from "../call-request.ts";
import { RawConnection } from "../raw-connection.ts";
import { type SoakKind, type SoakTally, soakKinds } from "../soak-kinds.ts";
import { answer, readSpec } from "./spec.ts";

/** The callers of the soak test: sends each kind of call at a fixed rate for the given time. */
export interface SoakLoadSpec {
  readonly port: number;
  readonly key: string;
  readonly durationMs: number;
}

export interface SoakLoadResult {
  readonly tallies: Readonly<Record<SoakKind, SoakTally>>;
  /** Error of the first failed call. null: none failed. */
  readonly firstFailure: string | null;
}

/** More callers would not add load while the gateway does not respond. */
const openMax = 3_000;
const tickMs = 5;

const { port, key, durationMs } = readSpec<SoakLoadSpec>();
const spare: RawConnection[] = [];
const tallies = Object.fromEntries(
  soakKinds.map(({ name }) => [name, { started: 0, answered: 0, refused: 0, broken: 0, left: 0, failed: 0 }]),
) as Record<SoakKind, { -readonly [Part in keyof SoakTally]: number }>;
let firstFailure: string | null = null;
const open = new Set<Promise<void>>();

const startMs = performance.now();
for (let nowMs = 0; nowMs < durationMs; nowMs = performance.now() - startMs) {
  for (const { name, perSecond } of soakKinds) {
    const due = Math.floor((nowMs / 1000) * perSecond);
    for (; tallies[name].started < due && open.size < openMax; tallies[name].started++) {
      const call = ask(name);
      open.add(call);
      void call.then(() => open.delete(call));
    }
  }
  await Bun.sleep(tickMs);
}
await Promise.all(open);
answer({ tallies, firstFailure } satisfies SoakLoadResult);
process.exit(0);

async function ask(kind: SoakKind): Promise<void> {
  const tally = tallies[kind];
  const leaves = Math.random() < leaveShare(kind);
  let gone = false;
  let leave: ReturnType<typeof setTimeout> | undefined;
  try {
    const connection = takeSpare() ?? (await RawConnection.open(port));
    if (leaves) {
      leave = setTimeout(() => {
        gone = true;
        connection.close();
      }, Math.random() * 2_000);
    }
    const { status } = await connection.exchange(callRequest(shapeOf(kind, leaves)));
    if (status === 200) tally.answered++;
    else if (kind === "faulty") tally.refused++;
    else fail(kind, `status ${status}: ${connection.lastBody}`);
    if (gone) return;
    clearTimeout(leave);
    spare.push(connection);
  } catch (error) {
    if (gone) tally.left++;
    // A truncated response must be recognizable.
    else if (kind === "faulty") tally.broken++;
    else fail(kind, String(error));
  } finally {
    clearTimeout(leave);
  }
}

/** A free connection. After a burst, some are already closed by the gateway. */
function takeSpare(): RawConnection | undefined {
  let connection = spare.pop();
  while (connection?.closed === true) connection = spare.pop();
  return connection;
}

function fail(kind: SoakKind, what: string): void {
  tallies[kind].failed++;
  firstFailure ??= `${kind}: ${what}`;
}

function leaveShare(kind: SoakKind): number {
  return soakKinds.find(({ name }) => name === kind)?.leaveShare ?? 0;
}

function shapeOf(kind: SoakKind, leaves: boolean): CallShape {
  const to = { port, key };
  const stream = { gapMs: 20 + Math.round(Math.random() * 80), eventsMax: 5 + Math.round(Math.random() * 45) };
  switch (kind) {
    case "small":
      return { ...to, bodyBytes: 1024, ...(leaves ? { delayMs: 2_000 } : {}) };
    case "100 KB":
      return { ...to, bodyBytes: 100 * 1024 };
    case "2 MB":
      return { ...to, bodyBytes: 2 * 1024 * 1024 };
    case "stream":
      return { ...to, bodyBytes: 4096, stream };
    case "messages on chat":
      return { ...to, caller: "messages", bodyBytes: 4096, stream };
    case "chat on messages":
      return { ...to, model: messagesModel, bodyBytes: 4096, stream };
    case "faulty":
      return { ...to, model: faultyModel, bodyBytes: 2048, ...(Math.random() < 0.5 ? { stream } : {}) };
  }
}
