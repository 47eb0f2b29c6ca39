import type { ConfigView } from "@sluice/contract";
import type { ControlStore, ReportStore } from "#ports/index.ts";
import { settingIsShown } from "#providers/index.ts";
import type { Handlers } from "./handler.ts";

/** What is known of the config file while the gateway runs. */
export interface ConfigFacts {
  /** null: there is none. */
  readonly path: string | null;
  /** The text without secrets; null when it cannot be read. */
  text(): Promise<string | null>;
  lastReload(): ConfigView["last_reload"];
}

/** What the process knows of itself. */
export interface ProcessFacts {
  /** Unix milliseconds. */
  readonly startedAt: number;
  memoryBytes(): number;
  journalLag(): number;
  journalHealthy(): boolean;
  streamsOpen(): number;
  reservationsOpen(): number;
}

export interface SystemHandlerDependencies {
  readonly controlStore: Pick<ControlStore, "exportConfig">;
  readonly reports: Pick<ReportStore, "facts">;
  readonly configFacts: ConfigFacts;
  readonly processFacts: ProcessFacts;
  readonly databaseKind: "sqlite" | "postgres";
  readonly version: string;
}

/** How many names of one kind the view of the config file lists. */
const namesMax = 200;

/** The calls about the system itself. */
export function systemHandlers(dependencies: SystemHandlerDependencies): Handlers<"settings.config" | "system.show"> {
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
        as_file: `${note}${stringify(config, { lineWidth: 120 })}`,
      };
    },
    "system.show": async () => {
      const { processFacts } = dependencies;
      const facts = await dependencies.reports.facts();
      return {
        version: dependencies.version,
        started_at: processFacts.startedAt,
        database: { kind: dependencies.databaseKind, size_bytes: facts.sizeBytes },
        ledger: {
          entries: facts.entries,
          lag: processFacts.journalLag(),
          healthy: processFacts.journalHealthy(),
        },
        memory_bytes: processFacts.memoryBytes(),
        streams_open: processFacts.streamsOpen(),
        reservations_open: processFacts.reservationsOpen(),
      };
    },
  };
}
