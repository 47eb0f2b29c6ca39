import { type Checkpoint, type Intent, joinEntry, type LedgerEntry, type Settlement } from "#core/index.ts";
import type { Journal, ResponseOwner } from "#ports/index.ts";

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

  /** As the ledger that is filled from here would answer, which learns of an entry a while after its end. */
  responseOwner(workspaceId: string, upstreamId: string, knownUntil: number): ResponseOwner | null {
    const known = this.entries.filter((entry) => entry.endedAt <= knownUntil);
    const made = known.filter((entry) => entry.workspaceId === workspaceId && entry.upstreamId === upstreamId);
    const [first] = made;
    if (first === undefined) return null;
    const { provider, deployment, model, upstreamModel } = first;
    return { provider, deployment, model, upstreamModel, paid: made.some(({ usageSource }) => usageSource !== "none") };
  }

  async synced(): Promise<void> {}
  async drained(): Promise<void> {}
  async close(): Promise<void> {}
}
