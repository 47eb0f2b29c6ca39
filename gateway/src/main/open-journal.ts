import { bounds, type LedgerEntry, type Settings } from "#core/index.ts";
import { type AdoptionHooks, recover, startAdoption } from "#ledger/index.ts";
import type { AbandonedJournal, Journal, Observer } from "#ports/index.ts";
import {
  abandonedJournals,
  createOpenAttemptStore,
  FileJournal,
  type JournalDirectory,
  openJournalSlot,
  RemoteJournal,
  settingAside,
  startDrain,
} from "#storage/index.ts";
import type { Control } from "./control.ts";

/** How often processes are looked for that have lost their disks. */
const remoteLookMs = 60_000;

interface OpenJournalOptions {
  readonly control: Control;
  /** Held by this process. */
  readonly directory: JournalDirectory;
  readonly durability: Settings["ledger.durability"];
  readonly observer: Observer;
  readonly onFatal: (error: Error) => void;
  readonly drain?: typeof startDrain | undefined;
  /** Nothing was written for a while, and nothing is open. */
  readonly onRest: () => void;
}

interface OpenedJournal {
  readonly journal: Journal;
  /** Entries of an earlier run that were put right. */
  readonly recovered: number;
  /** From now on others hear of what dead processes left: until then it is in the database, and its owners are remembered. */
  tellAdopted(hooks: Required<AdoptionHooks>): void;
  /** Ends the looking; the journal is closed by itself. */
  stopAdoption(): Promise<void>;
}

/** Brings what dead processes left into the database, and opens the journal of this one. */
export async function openJournal(options: OpenJournalOptions): Promise<OpenedJournal> {
  const { control, directory, observer, onFatal } = options;
  const { clock, ledgerStore, place, instanceId } = control;
  const shared = place.kind === "postgres";
  const durability = options.durability === "remote" ? "disk" : options.durability;
  const isRemote = shared && options.durability === "remote";
  for (const why of directory.strange) observer.log("warn", why);
  const takenOver = settingAside(ledgerStore, directory.path, observer);
  const recovered = await recover({ leftovers: directory.leftovers, store: takenOver });
  for (const damage of recovered.damage) observer.log("warn", "The journal of an earlier run is damaged.", { damage });
  const adopting = shared ? await adoptionOf(options) : notAdopting;
  const drain = (options.drain ?? startDrain)({
    directory: directory.path,
    firstSegment: directory.firstSegment,
    place,
    openAttempts: isRemote,
    clock,
    observer,
    onRest: options.onRest,
  });
  const journal = new FileJournal({ directory, durability, drain, clock, observer, onFatal });
  const store = createOpenAttemptStore(control.database);
  return {
    journal: isRemote ? new RemoteJournal({ journal, store, owner: instanceId, clock, observer }) : journal,
    ...adopting,
    recovered: recovered.stored + adopting.recovered,
  };
}

type Adopting = Pick<OpenedJournal, "recovered" | "tellAdopted" | "stopAdoption">;

const notAdopting: Adopting = {
  recovered: 0,
  tellAdopted: () => undefined,
  stopAdoption: async () => undefined,
};

/** The first look is over when it resolves: what an earlier run of this process left counts before the port opens. */
async function adoptionOf({ control, directory, observer }: OpenJournalOptions): Promise<Adopting> {
  const store = createOpenAttemptStore(control.database);
  const installation = installationOf(control);
  let hooks: Required<AdoptionHooks> | null = null;
  let recovered = 0;
  let databaseAskedMs = Number.NEGATIVE_INFINITY;
  const early = new AdoptedEarly();
  const adoption = startAdoption({
    async *abandoned(): AsyncGenerator<AbandonedJournal, void, undefined> {
      for (const journal of abandonedJournals(control.journalPath, directory.path, installation)) {
        yield { ...journal, leftovers: store.joinedTo(journal.leftovers, journal.owner) };
      }
      // Who is missed in the database has been silent for minutes: it is asked for more rarely than the disk.
      if (control.clock.monotonic() - databaseAskedMs < remoteLookMs) return;
      databaseAskedMs = control.clock.monotonic();
      yield* store.abandoned();
    },
    store: settingAside(control.ledgerStore, directory.path, observer),
    clock: control.clock,
    observer,
    hooks: {
      onStored: (entries) => {
        recovered += entries.length;
        if (hooks !== null) hooks.onStored(entries);
        else early.take(entries);
      },
      onAdopted: async (...adopted) => (hooks === null ? false : await hooks.onAdopted(...adopted)),
    },
  });
  await adoption.hurry();
  return {
    recovered,
    tellAdopted: (given) => {
      hooks = given;
      const entries = early.give();
      if (entries.length > 0) given.onStored(entries);
      databaseAskedMs = Number.NEGATIVE_INFINITY;
      void adoption.hurry();
    },
    stopAdoption: () => adoption.close(),
  };
}

/**
 * What the first look for dead processes' journals found, until there is somebody to be told: by it budgets are read anew. So one entry
 * of each key, group and person on each day is enough, however many thousands there are.
 */
export class AdoptedEarly {
  readonly #entries = new Map<string, LedgerEntry>();

  take(entries: readonly LedgerEntry[]): void {
    for (const entry of entries) {
      if (entry.costNanoUsd === 0 || this.#entries.size >= bounds.journalBacklogMax) continue;
      const { keyId, groupId, workspaceId, personId = "", at } = entry;
      const place = `${keyId} ${groupId} ${workspaceId} ${personId} ${Math.floor(at / dayMs)}`;
      if (!this.#entries.has(place)) this.#entries.set(place, entry);
    }
  }

  /** All of them, once. */
  give(): readonly LedgerEntry[] {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    return entries;
  }
}

const dayMs = 86_400_000;

/** A journal of this process's own among those that share the data directory; or `alone`, where nobody may share it. */
export function openSlot({ control, alone }: { readonly control: Control; readonly alone: boolean }): JournalDirectory {
  const installation = installationOf(control);
  return openJournalSlot(control.journalPath, { process: control.instanceId, installation, alone });
}

/** The same for all processes on one database: they share its pepper, and nobody learns it from this. */
export function installationOf({ vault }: Pick<Control, "vault">): string {
  return vault.digest("journal installation");
}
