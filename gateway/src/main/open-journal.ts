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

/** How often processes are searched that have lost their disks. */
const remoteIntervalMs = 60_000;

interface OpenJournalOptions {
  readonly control: Control;
  /** Locked by this process. */
  readonly directory: JournalDirectory;
  readonly durability: Settings["ledger.durability"];
  readonly observer: Observer;
  readonly onFatal: (error: Error) => void;
  readonly drain?: typeof startDrain | undefined;
  /** The journal is idle. */
  readonly onRest: () => void;
}

interface OpenedJournal {
  readonly journal: Journal;
  /** Number of entries recovered from an earlier run. */
  readonly recovered: number;
  /** Sets who is notified about entries of dead processes. They are stored in any case. */
  onAdopted(hooks: Required<AdoptionHooks>): void;
  stopAdoption(): Promise<void>;
}

/** Stores the entries of dead processes in the database, and opens the journal of this one. */
export async function openJournal(options: OpenJournalOptions): Promise<OpenedJournal> {
  const { control, directory, observer, onFatal } = options;
  const { clock, ledgerStore, place, instanceId } = control;
  const shared = place.kind === "postgres";
  const durability = options.durability === "remote" ? "disk" : options.durability;
  const isRemote = shared && options.durability === "remote";
  for (const why of directory.strange) observer.log("warn", why);
  const recoveryStore = settingAside(ledgerStore, directory.path, observer);
  const recovered = await recover({ leftovers: directory.leftovers, store: recoveryStore });
  for (const damage of recovered.damage) observer.log("warn", "journal of an earlier run is damaged", { damage });
  const adoption = shared ? await openAdoption(options) : noAdoption;
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
    ...adoption,
    recovered: recovered.stored + adoption.recovered,
  };
}

type OpenedAdoption = Pick<OpenedJournal, "recovered" | "onAdopted" | "stopAdoption">;

const noAdoption: OpenedAdoption = {
  recovered: 0,
  onAdopted: () => undefined,
  stopAdoption: async () => undefined,
};

/** Resolves after the first search, so that entries of an earlier run count before the port opens. */
async function openAdoption({ control, directory, observer }: OpenJournalOptions): Promise<OpenedAdoption> {
  const store = createOpenAttemptStore(control.database);
  const installation = installationOf(control);
  let hooks: Required<AdoptionHooks> | null = null;
  let recovered = 0;
  let databaseReadMs = Number.NEGATIVE_INFINITY;
  const early = new EarlyAdoptions();
  const adoption = startAdoption({
    async *abandoned(): AsyncGenerator<AbandonedJournal, void, undefined> {
      for (const journal of abandonedJournals(control.journalPath, directory.path, installation)) {
        yield { ...journal, leftovers: store.joinedTo(journal.leftovers, journal.owner) };
      }
      // Processes that the database misses have been silent for minutes, so it is read less often than the disk.
      if (control.clock.monotonic() - databaseReadMs < remoteIntervalMs) return;
      databaseReadMs = control.clock.monotonic();
      yield* store.abandoned();
    },
    store: settingAside(control.ledgerStore, directory.path, observer),
    clock: control.clock,
    observer,
    hooks: {
      onStored: (entries) => {
        recovered += entries.length;
        if (hooks !== null) hooks.onStored(entries);
        else early.add(entries);
      },
      onAdopted: async (...adopted) => (hooks === null ? false : await hooks.onAdopted(...adopted)),
    },
  });
  await adoption.hurry();
  return {
    recovered,
    onAdopted: (given) => {
      hooks = given;
      const entries = early.take();
      if (entries.length > 0) given.onStored(entries);
      databaseReadMs = Number.NEGATIVE_INFINITY;
      void adoption.hurry();
    },
    stopAdoption: () => adoption.close(),
  };
}

/**
 * Keeps adopted entries until the budgets are open. They only determine which budgets must be read again, so one entry per key, group, person
 * and day is enough.
 */
export class EarlyAdoptions {
  readonly #entries = new Map<string, LedgerEntry>();

  add(entries: readonly LedgerEntry[]): void {
    for (const entry of entries) {
      if (entry.costNanoUsd === 0 || this.#entries.size >= bounds.journalBacklogMax) continue;
      const { keyId, groupId, workspaceId, personId = "", at } = entry;
      const group = `${keyId} ${groupId} ${workspaceId} ${personId} ${Math.floor(at / dayMs)}`;
      if (!this.#entries.has(group)) this.#entries.set(group, entry);
    }
  }

  /** Removes and returns all entries. */
  take(): readonly LedgerEntry[] {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    return entries;
  }
}

const dayMs = 86_400_000;

/** Opens a journal for this process in a data directory that several may share, unless `alone`. */
export function openSlot({ control, alone }: { readonly control: Control; readonly alone: boolean }): JournalDirectory {
  const installation = installationOf(control);
  return openJournalSlot(control.journalPath, { process: control.instanceId, installation, alone });
}

/** Id of the installation, the same for all processes on one database. */
export function installationOf({ vault }: Pick<Control, "vault">): string {
  return vault.digest("journal installation");
}
