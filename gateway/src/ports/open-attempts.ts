import type { Checkpoint, Intent } from "#core/index.ts";
import type { AbandonedJournal, JournalLeftovers } from "./journal.ts";

/**
 * Attempts under way in the database, beside the journals of the processes that make them (`ledger.durability: remote`): what is
 * known of them when a process and its disk are lost. An attempt is there before it is sent, and goes when its entry is stored.
 */
export interface OpenAttemptStore {
  /** Committed when it resolves. The same again changes nothing. */
  open(owner: string, intents: readonly Intent[]): Promise<void>;
  /** The latest of each attempt that is there. */
  checkpoint(checkpoints: readonly Checkpoint[]): Promise<void>;
  remove(attemptIds: readonly string[]): Promise<void>;
  /** At the orderly end of a process: everything of it is stored. */
  removeOf(owner: string): Promise<void>;
  /**
   * What a process that is known to be dead left here and in the journal that lies on this disk: the first of both, so that
   * what the journal knows better counts. Discarding removes both.
   */
  joinedTo(leftovers: JournalLeftovers, owner: string | null): JournalLeftovers;
  /**
   * What processes left that were not seen for remoteLostMs, and neither began anything nor told how far it is: their disks
   * are taken for lost.
   */
  abandoned(): AsyncIterable<AbandonedJournal>;
}
