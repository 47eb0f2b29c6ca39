import type { GatewayProcess } from "@sluice/contract";
import { columnsOf } from "#core/index.ts";
import { settingIsShown } from "#providers/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import type { Handlers } from "./calls.ts";

/** Names per type that the view of the config file lists. */
const namesMax = 200;

export function systemHandlers(dependencies: ConsoleDependencies) {
  return {
    "settings.config": async () => {
      const isSecret = (kind: string, name: string) => !settingIsShown(kind, name);
      const { config, manages, keysLeftOut } = await dependencies.controlStore.exportConfig(isSecret);
      const note = keysLeftOut ? "# This list is truncated: there are more keys.\n" : "";
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
      if (dependencies.databaseKind === "sqlite") return { data: [await singleProcess(dependencies)], next: null };
      const listed = await dependencies.listProcesses();
      const data = listed.map(({ isAlive: alive, ...process }) => ({
        ...columnsOf(process),
        alive,
        answers: process.id === dependencies.instanceId,
        leader: process.leads.length > 0,
      }));
      return { data, next: null };
    },
  } satisfies Partial<Handlers>;
}

/** A process that owns the data directory does all shared work. */
async function singleProcess(dependencies: ConsoleDependencies): Promise<GatewayProcess> {
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
