import type { ConfigView, GatewayProcess } from "@sluice/contract";
import type { ControlStore } from "#directory/index.ts";
import type { Clock, ReportStore, SeenInstance } from "#ports/index.ts";
import { settingIsShown } from "#providers/index.ts";
import type { Handlers } from "./handler.ts";

/** What is known of the config file while the gateway runs. */
export interface ConfigFacts {
  /** null: there is none. */
  readonly path: string | null;
  /** The text without secrets; null when it cannot be read. */
  text(): Promise<string | null>;
  lastReload(): ConfigView["last_reload"];
  warnings(): Promise<ConfigView["warnings"]>;
}

/** What is known of the running gateway: of the process, or of all workers together. */
export interface ProcessNumbers {
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly memoryBytes: number;
  readonly journalLag: number;
  readonly journalHealthy: boolean;
  readonly streamsOpen: number;
  readonly reservationsOpen: number;
}

interface ProcessFacts {
  read(): Promise<ProcessNumbers>;
}

export interface SystemHandlerDependencies {
  readonly controlStore: Pick<ControlStore, "exportConfig">;
  readonly reports: Pick<ReportStore, "facts">;
  readonly configFacts: ConfigFacts;
  readonly processFacts: ProcessFacts;
  readonly databaseKind: "sqlite" | "postgres";
  readonly version: string;
  /** The id of this process, and the name of its machine. */
  readonly instanceId: string;
  readonly host: string;
  readonly clock: Pick<Clock, "now">;
  /** On SQLite there is this one alone, and it is not asked. */
  readonly listProcesses: () => Promise<readonly (SeenInstance & { readonly leads: readonly string[] })[]>;
}

/** How many names of one kind the view of the config file lists. */
const namesMax = 200;

/** The calls about the system itself. */
export function systemHandlers(
  dependencies: SystemHandlerDependencies,
): Handlers<"settings.config" | "system.show" | "system.processes"> {
  return {
    "settings.config": async () => {
      const isSecret = (kind: string, name: string) => !settingIsShown(kind, name);
      const { config, manages, keysLeftOut } = await dependencies.controlStore.exportConfig(isSecret);
      const note = keysLeftOut ? "# There are more keys than are listed here.\n" : "";
      const { stringify } = await import("yaml");
      return {
        path: dependencies.configFacts.path,
        text: await dependencies.configFacts.text(),
        manages: manages.map(({ kind, names }) => ({
          kind,
          names: names.slice(0, namesMax),
          more: Math.max(0, names.length - namesMax),
        })),
        last_reload: dependencies.configFacts.lastReload(),
        warnings: await dependencies.configFacts.warnings(),
        as_file: `${note}${stringify(config, { lineWidth: 120 })}`,
      };
    },
    "system.show": async () => {
      const [numbers, facts] = await Promise.all([dependencies.processFacts.read(), dependencies.reports.facts()]);
      return {
        version: dependencies.version,
        started_at: numbers.startedAt,
        database: { kind: dependencies.databaseKind, size_bytes: facts.sizeBytes },
        ledger: {
          entries: facts.entries,
          lag: numbers.journalLag,
          healthy: numbers.journalHealthy,
        },
        memory_bytes: numbers.memoryBytes,
        streams_open: numbers.streamsOpen,
        reservations_open: numbers.reservationsOpen,
      };
    },
    "system.processes": async () => {
      if (dependencies.databaseKind === "sqlite") return { data: [await onlyProcess(dependencies)], next: null };
      const listed = await dependencies.listProcesses();
      const data = listed.map((process) => ({
        id: process.id,
        host: process.host,
        version: process.version,
        started_at: process.startedAt,
        seen_at: process.seenAt,
        alive: process.isAlive,
        answers: process.id === dependencies.instanceId,
        leader: process.leads.length > 0,
        leads: [...process.leads],
        journal_lag: process.journalLag,
      }));
      return { data, next: null };
    },
  };
}

/** The one that has the data directory to itself: whatever one process does for all, it does. */
async function onlyProcess(dependencies: SystemHandlerDependencies): Promise<GatewayProcess> {
  const { startedAt, journalLag } = await dependencies.processFacts.read();
  return {
    id: dependencies.instanceId,
    host: dependencies.host,
    version: dependencies.version,
    started_at: startedAt,
    seen_at: dependencies.clock.now(),
    alive: true,
    answers: true,
    leader: true,
    leads: [],
    journal_lag: journalLag,
  };
}
