import { join } from "node:path";
import { createSimulator } from "@sluice/simulator";
import { createAdmin } from "#admin/index.ts";
import { type ApiServer, type Face, serveApi } from "#api/index.ts";
import type { Environment } from "#config/index.ts";
import { createMemoryCounter, createMemoryHealthBoard } from "#coordination/index.ts";
import { bounds, Failure } from "#core/index.ts";
import { Authenticator, createSetup, type Setup } from "#identity/index.ts";
import { createRecorder, recover } from "#ledger/index.ts";
import { createAdmission, type Standing, seedFromLedger } from "#limits/index.ts";
import type { Journal, Observer } from "#ports/index.ts";
import { Relay } from "#relay/index.ts";
import { createRouter } from "#routing/index.ts";
import {
  createChangeFeed,
  createJournal,
  createSpool,
  hashPassword,
  openJournalDirectory,
  openStaticFiles,
  startDrain,
} from "#storage/index.ts";
import { systemChance } from "#system/index.ts";
import { createMetrics, createObserver } from "#telemetry/index.ts";
import { createTransport } from "#upstream/index.ts";
import { CatalogHolder } from "./catalog-holder.ts";
import type { Control } from "./control.ts";
import { pruneDaily } from "./pruning.ts";
import { staticRoots } from "./static-roots.ts";
import { openStudio } from "./studio.ts";

export interface House {
  readonly server: ApiServer;
  readonly observer: Observer;
  readonly setup: Setup;
  readonly catalog: CatalogHolder;
  readonly journal: Journal;
  /** Reservations not yet settled or released; 0 at rest. */
  readonly outstanding: () => number;
  /** Ledger entries of an earlier run that were put right before the port opened. */
  readonly recovered: number;
  /** Lets live streams finish for at most `drainTimeoutMs`, then ends the rest honestly; everything is flushed. */
  close(): Promise<void>;
}

export interface HouseOptions {
  readonly environment: Environment;
  readonly control: Control;
  readonly version: string;
  readonly randomToken: () => string;
  /** The journal can no longer be trusted: the process must end. */
  readonly onFatal: (error: Error) => void;
}

/** Builds the whole gateway around an open control side. The port opens last, when every promise can be kept. */
export async function openHouse(options: HouseOptions): Promise<House> {
  const { environment, control } = options;
  const { clock, ids, controlStore, ledgerStore, vault } = control;
  const metrics = createMetrics();
  const observer = createObserver({ level: environment.logLevel, format: environment.logFormat, clock, metrics });

  if (environment.otlpEndpoint !== null) {
    observer.log("warn", "SLUICE_OTLP_ENDPOINT is set, but this version sends no traces; /metrics has the metrics.");
  }

  const directory = openJournalDirectory(control.journalPath);
  const recovered = await recover({ leftovers: directory.leftovers, store: ledgerStore });
  for (const damage of recovered.damage) observer.log("warn", "The journal of an earlier run is damaged.", { damage });
  const first = await controlStore.catalog();
  const drain = startDrain({
    directory: directory.path,
    firstSegment: directory.firstSegment,
    databasePath: control.databasePath,
    clock,
    observer,
  });
  const durability = first.settings.ledgerDurability;
  const journal = createJournal({ directory, durability, drain, clock, observer, onFatal: options.onFatal });

  const catalog = new CatalogHolder(controlStore, observer, first);
  const counter = createMemoryCounter({ clock });
  await seedFromLedger({ counter, ledgerStore, clock });
  const admission = createAdmission({ counter, clock });
  const router = createRouter({ board: createMemoryHealthBoard(clock), clock, chance: systemChance, observer });
  // The demo answers everybody alike: what a caller writes is no script for it.
  const simulator = createSimulator({
    defaults: { event_ms: 25 },
    obeysRequests: false,
    truthRecordsMax: 1,
    filesUrl: "demo://simulator",
  });
  const transport = createTransport({
    clock,
    inProcess: new Map([["simulator", (request) => simulator.fetch(request)]]),
  });
  const recorder = createRecorder({ journal, clock, ids, observer });
  const relay = new Relay({
    catalog: () => catalog.current,
    router,
    admission,
    recorder,
    journal,
    transport,
    ledgerStore,
    ids,
    clock,
    observer,
  });
  const authenticator = new Authenticator({ vault, keyStore: controlStore, catalog: () => catalog.current, clock });
  const stopFeed = createChangeFeed({ database: control.database, clock, observer }).subscribe((change) => {
    authenticator.changed(change);
    if (change.kind === "catalog") void catalog.refresh();
  });
  // What changed between the first reading and the subscription is in this second one.
  await catalog.refresh();
  const setup = await createSetup({ controlStore, randomToken: options.randomToken, hashPassword });
  const admin = createAdmin({
    files: await openStaticFiles(staticRoots),
    setup,
    clock,
    observer,
    version: options.version,
    publicUrl: environment.publicUrl,
    demo: () => [...catalog.current.providers.values()].every((provider) => provider.kind === "demo"),
  });
  const spool = createSpool({ directory: join(environment.dataDir, "spool"), nextName: () => ids.next("spool_") });
  const studio = openStudio({
    environment,
    control,
    catalog,
    router,
    admission,
    recorder,
    transport,
    spool,
    observer,
  });
  await studio.start();
  let draining = false;
  const face: Face = {
    authenticator,
    relay,
    videos: studio.videos,
    assets: studio.assets,
    publicUrl: environment.publicUrl,
    catalog: () => catalog.current,
    clock,
    ids,
    observer,
    spool,
    draining: () => draining,
    unready: () => (draining ? "draining" : journal.healthy ? null : "the ledger cannot be written"),
    metricsText: () => metrics.text(),
    metricsType: metrics.contentType,
    keyUsage: (principal, from, to) => ledgerStore.usage({ keyId: principal.key.id, from, to }),
    standing: async (principal) => (await admission.standing(principal)).map(standingRow),
    admin: admin.fetch,
  };
  metrics.gauges({
    sluice_ledger_lag_entries: () => journal.lag,
    sluice_ledger_healthy: () => (journal.healthy ? 1 : 0),
    sluice_streams_open: () => relay.liveStreams,
    sluice_reservations_open: () => admission.outstanding,
    sluice_catalog_version: () => catalog.current.version,
  });
  const stopPruning = pruneDaily({ clock, ledgerStore, catalog, observer });
  const server = serveApi(face, { hostname: environment.host, port: environment.port });

  const close = async (): Promise<void> => {
    draining = true;
    await settleDown(() => server.pending() === 0, catalog.current.settings.drainTimeoutMs, clock);
    relay.abortStreams(new Failure("draining", "The gateway is shutting down."));
    await settleDown(() => relay.liveStreams === 0 && server.pending() === 0, bounds.lastBytesMs, clock);
    await server.stop(true);
    await studio.stop();
    stopFeed();
    stopPruning();
    await journal.close(bounds.flushMs);
    await control.close();
  };
  return {
    server,
    observer,
    setup,
    catalog,
    journal,
    outstanding: () => admission.outstanding,
    recovered: recovered.stored,
    close,
  };
}

function standingRow(standing: Standing) {
  return {
    scope: standing.label,
    kind: standing.name,
    period: standing.period,
    limit: standing.limit,
    used: standing.used,
    resets_at: standing.resetsAt,
  };
}

/** Resolves when `calm` holds, at the latest after `timeoutMs`. */
async function settleDown(calm: () => boolean, timeoutMs: number, clock: Control["clock"]): Promise<void> {
  const endMs = clock.monotonic() + timeoutMs;
  while (!calm() && clock.monotonic() < endMs) {
    await new Promise<void>((resolve) => void clock.after(20, resolve));
  }
}
