import {
  type Checkpoint,
  type Intent,
  joinEntry,
  type LedgerEntry,
  type Settlement,
  type UpstreamObject,
} from "#core/index.ts";
import type { Journal } from "#ports/index.ts";

/** Keeps what a journal is given and complains when the order of things is broken. */
export class JournalInMemory implements Journal {
  readonly open = new Map<string, Intent>();
  readonly entries: LedgerEntry[] = [];
  readonly faults: string[] = [];
  readonly healthy = true;
  readonly lag = 0;

  intent(intent: Intent): void {
    if (this.open.has(intent.attemptId)) this.faults.push(`${intent.attemptId} was begun twice`);
    this.open.set(intent.attemptId, intent);
  }

  checkpoint(checkpoint: Checkpoint): void {
    if (!this.open.has(checkpoint.attemptId)) this.faults.push(`${checkpoint.attemptId} went on after its end`);
  }

  settle(settlement: Settlement): void {
    const intent = this.open.get(settlement.attemptId);
    if (intent === undefined) this.faults.push(`${settlement.attemptId} was settled without being open`);
    else this.entries.push(joinEntry(intent, settlement));
    this.open.delete(settlement.attemptId);
  }

  refuse(entry: LedgerEntry): void {
    this.entries.push(entry);
  }

  /** As the table that is filled from here would answer, which learns of an object a while after its entry's end. */
  objects(workspaceId: string, ids: readonly string[], knownUntil: number): readonly UpstreamObject[] {
    const byId = new Map<string, UpstreamObject>();
    for (const entry of this.entries) {
      if (entry.workspaceId !== workspaceId || entry.endedAt > knownUntil) continue;
      const { keyId, personId = null, provider, deployment, model, upstreamModel, endedAt: createdAt } = entry;
      const made = { workspaceId, keyId, personId, provider, deployment, model, upstreamModel, createdAt };
      for (const object of entry.objects ?? []) {
        if (!ids.includes(object.id)) continue;
        const inputTokens = object.inputTokens ?? byId.get(object.id)?.inputTokens ?? null;
        byId.set(object.id, { ...made, ...object, inputTokens });
      }
    }
    return [...byId.values()];
  }

  async synced(): Promise<void> {}
  async drained(): Promise<void> {}
  async close(): Promise<void> {}
}
