import { LastingFault, sleep } from "#core/index.ts";
import type { Clock, Leadership, Observer } from "#ports/index.ts";
import type { SharedFacts, TailedAuditEntry } from "#storage/index.ts";
import { firstStartActor } from "./first-start.ts";

/** How often new audit entries are looked for, how many are read at once, and how much of a change goes into a line, as JSON. */
const auditStreamMs = 2_000;
const auditStreamRows = 200;
const auditStreamChangeMax = 16 * 1024;

export interface AuditStreamOptions {
  readonly entriesAfter: (
    from: { readonly seq: number } | { readonly sinceMs: number },
    limit: number,
  ) => Promise<readonly TailedAuditEntry[]>;
  readonly facts: SharedFacts;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  readonly leadership: Pick<Leadership, "lead">;
}

/** Which entry was written to the log last. */
const markName = "audit.logged";
const dayMs = 86_400_000;

/**
 * Writes each entry of the audit log to the log, and so to the collector, whichever process made it: one process of the
 * installation reads them in their order. Entries may be written twice when that process ends between writing and marking,
 * and never left out; those of the first start are one line. Without a mark it begins with those of the last day. Returns its
 * own end.
 */
export function startAuditStream(options: AuditStreamOptions): () => Promise<void> {
  const { clock, observer, leadership } = options;
  const fault = new LastingFault({
    ...{ clock, observer, level: "warn" },
    fault: "The audit log could not be read for the log; it is tried again, and no entry is left out.",
    over: "The audit log is written to the log again.",
  });
  const lead = leadership.lead("audit-stream", async ({ signal }) => {
    while (!signal.aborted) {
      try {
        await writeNew(options, signal);
        fault.passed();
      } catch (thrown) {
        if (signal.aborted) return;
        fault.failed({ error: thrown });
      }
      await sleep(clock, auditStreamMs, signal);
    }
  });
  return () => lead.stop();
}

async function writeNew({ entriesAfter, facts, clock, observer }: AuditStreamOptions, signal: AbortSignal) {
  const mark = await facts.read(markName);
  let from = mark === null ? { sinceMs: clock.now() - dayMs } : { seq: Number(mark) };
  for (;;) {
    const entries = await entriesAfter(from, auditStreamRows);
    const last = entries.at(-1);
    if (last === undefined || signal.aborted) return;
    const own = entries.filter(({ actor }) => actor === firstStartActor);
    const lastOwn = own.at(-1);
    if (lastOwn !== undefined) observer.log("info", "audit", sumOf(own, lastOwn));
    for (const entry of entries) if (entry.actor !== firstStartActor) observer.log("info", "audit", fieldsOf(entry));
    from = { seq: last.seq };
    await facts.write(markName, String(last.seq));
  }
}

/** Sums up the objects that a new installation creates by itself, so that they take one line. */
function sumOf(entries: readonly TailedAuditEntry[], { seq, at, actor }: TailedAuditEntry) {
  const objects = [...new Set(entries.map(({ object }) => object))];
  return { event: "audit", auditId: seq, at: new Date(at).toISOString(), actor, action: "create", objects };
}

function fieldsOf({ seq, at, before, after, ...entry }: TailedAuditEntry): Readonly<Record<string, unknown>> {
  const isLong = (before?.length ?? 0) + (after?.length ?? 0) > auditStreamChangeMax;
  return {
    event: "audit",
    auditId: seq,
    at: new Date(at).toISOString(),
    ...entry,
    ...(isLong ? { truncated: true } : { before: parsed(before), after: parsed(after) }),
  };
}

function parsed(json: string | null): unknown {
  return json === null ? null : JSON.parse(json);
}
