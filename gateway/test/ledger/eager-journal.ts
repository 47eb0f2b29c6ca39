import { type Intent, ledgerUnavailable, type Settlement } from "#core/index.ts";
import { FileJournal } from "#storage/index.ts";

/** Writes each record at once, as for calls that never share a turn of the event loop. */
export class EagerJournal extends FileJournal {
  override intent(intent: Intent): void {
    super.intent(intent);
    if (!this.flush()) throw ledgerUnavailable();
  }

  override settle(settlement: Settlement): void {
    super.settle(settlement);
    this.flush();
  }
}
