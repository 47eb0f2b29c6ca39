import {
  type Checkpoint,
  type Intent,
  joinEntry,
  type LedgerEntry,
  type Settlement,
  type UpstreamObject,
} from "#core/index.ts";
import type { Journal } from "#ports/index.ts";

/** Stores what a journal gets, and reports faults in the order of its calls. */
export class JournalInMemory implements Journal {
  readonly open = new Map<string, Intent>();
  readonly entries: LedgerEntry[] = [];
  readonly faults: string[] = [];
  readonly healthy = true;
  readonly lag = 0;

  intent(intent: Intent): void {
    if (this.open.has(intent.attemptId)) this.faults.push(`${intent.attemptId} began twice`);
    this.open.set(intent.attemptId, intent);
  }

  flush(): boolean {
    return true;
  }

  checkpoint(checkpoint: Checkpoint): void {
    if (!this.open.has(checkpoint.attemptId)) this.faults.push(`${checkpoint.attemptId} continued after its end`);
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

  check(): void {}

  /** The objects as the table shows them, some time after the end of their entries. */
  objects(workspaceId: string, ids: readonly string[], knownUntil: number): readonly UpstreamObject[] {
    const byId = new Map<string, UpstreamObject>();
    for (const entry of this.entries) {
      if (entry.workspaceId !== workspaceId || entry.endedAt > knownUntil) continue;
      const {
        keyId,
        personId = null,
        session = null,
        provider,
        deployment,
        model,
        upstreamModel,
        endedAt: createdAt,
      } = entry;
      const fields = { workspaceId, keyId, personId, session, provider, deployment, model, upstreamModel, createdAt };
      for (const object of entry.objects ?? []) {
        if (!ids.includes(object.id)) continue;
        const inputTokens = object.inputTokens ?? byId.get(object.id)?.inputTokens ?? null;
        byId.set(object.id, { ...fields, ...object, inputTokens });
      }
    }
    return [...byId.values()];
  }

  async synced(): Promise<void> {}
  async drained(): Promise<void> {}
  async close(): Promise<void> {}
}
