import { join } from "node:path";
import { createAdmin, RequestTail } from "#admin/index.ts";
import { type ApiDependencies, AskRate, createAsKey } from "#api/index.ts";
import { bounds, type ConfigSnapshot, Failure, sleep, waitUntil } from "#core/index.ts";
import { Authenticator, agentSettingsBy, createSetup, makeFirstAdministrator } from "#identity/index.ts";
import { createRecorder } from "#ledger/index.ts";
import { Admission, callCounter } from "#limits/index.ts";
import { ProviderClient } from "#provider-client/index.ts";
import { withContextWindows } from "#providers/index.ts";
import { Relay } from "#relay/index.ts";
import {
  createChangeFeed,
  createExplainStore,
  createSpool,
  openReports,
  openStaticFiles,
  watchDatabase,
} from "#storage/index.ts";
import { letGo, steadyClock } from "#system/index.ts";
import { createMetrics, createObserver, guardedObserver } from "#telemetry/index.ts";
import { createTransport } from "#upstream/index.ts";
import { openBodyWork } from "./body-work.ts";
import { adoptedToldTo, entriesToldTo } from "./booked.ts";
import { ConfigFile } from "./config-facts.ts";
import { ConfigSnapshotHolder } from "./config-snapshot-holder.ts";
import { openConsole } from "./console.ts";
import { openDemoUpstream } from "./demo-upstream.ts";
import { depart, Ending, settleDown } from "./ending.ts";
import type { Gateway, GatewayOptions, Leave } from "./gateway-options.ts";
import { letGoAtRest } from "./let-go-at-rest.ts";
import { limitUsageRow } from "./limit-usage-row.ts";
import { callsUrlOf, consoleOrigin, consoleUrl, type Listeners, openListenersInTurn } from "./listeners.ts";
import { openCallerMemory } from "./machine-memory.ts";
import { openMedia } from "./media.ts";
import { networkOf } from "./network.ts";
import { registerNumbers, workspaceLabels } from "./numbers-at-scrape.ts";
import { openCounter } from "./open-counter.ts";
import { openExplainer } from "./open-explainer.ts";
import { openJournal } from "./open-journal.ts";
import { openRouter } from "./open-router.ts";
import { openAgentTelemetry, openTelemetry } from "./open-telemetry.ts";
import { periodSpend } from "./period-spend.ts";
import { openProcesses } from "./processes.ts";
import { readiness } from "./readiness.ts";
import { sharedAccounts } from "./shared-accounts.ts";
import { sharedSetup } from "./shared-setup.ts";
import { openSignIn, useOidc } from "./sign-in.ts";
import { staticRoots } from "./static-roots.ts";
import { startUpkeep } from "./upkeep.ts";
import { numbersOf } from "./worker-numbers.ts";

/** Builds the whole gateway around an open control side. The port opens last, when every promise can be kept. */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { environment, control } = options;
  const { clock, ids, controlStore, ledgerStore, objectStore, people, vault } = control;
  let inForce = (): ConfigSnapshot | null => null;
  const metrics = createMetrics(
    options,
    workspaceLabels(environment.metricsWorkspaces, () => inForce()),
  );
  const link = options.link ?? null;
  const numbers = numbersOf(metrics, link, clock.now());
  const { version } = options;
  const demo = openDemoUpstream();
  const transport = createTransport({
    clock,
    ...networkOf(environment),
    inProcess: new Map([["simulator", demo.fetch]]),
  });
  const telemetry = await openTelemetry({ ...options, transport, metrics, configSnapshot: () => inForce() });
  const tracing = telemetry?.traces == null ? {} : { tracing: telemetry.traces };
  const told = createObserver({
    level: environment.logLevel,
    format: environment.logFormat,
    accessLog: environment.accessLog,
    ...(environment.redisUrl === null ? {} : { instance: control.instanceId }),
    ...{ clock, metrics },
    ...(telemetry === null ? {} : { exported: telemetry }),
  });
  const configFile = new ConfigFile(
    environment.configFile,
    clock,
    options.variables ?? {},
    options.configRefused !== true,
  );
  const tail = new RequestTail({ clock, controlStore, configSnapshot: () => configSnapshot.current });
  const observer = guardedObserver(tail.before(guardedObserver(configFile.before(guardedObserver(told)))));
  telemetry?.tellTo(observer);
  const agentTelemetry = await openAgentTelemetry({ ...options, transport, metrics, observer });

  const providerClient = new ProviderClient(transport, clock);
  const signIn = openSignIn({ environment, control, transport, observer });
  if (environment.administrator !== null) {
    const { email, password } = environment.administrator;
    await makeFirstAdministrator({ signIn, people }, { email, password: password.reveal() }, null);
  }

  const processes = options.processes ?? (await openProcesses(options));
  processes.tellTo(observer);
  const { broadcast, leadership } = processes;
  tail.share({ broadcast, instanceId: control.instanceId });
  const { database, place } = control;
  const databaseWatch = await watchDatabase({ place, database, clock, observer });
  const readConfigSnapshot = async (): Promise<ConfigSnapshot> => {
    await vault.refresh();
    return await withContextWindows(await controlStore.configSnapshot(), controlStore.storedPriceList);
  };
  const first = await readConfigSnapshot();
  const { directory, onFatal } = options;
  const durability = first.settings.ledgerDurability;
  const rest = letGoAtRest({
    clock,
    isBusy: () => relay.liveStreams > 0 || (opened?.pending() ?? 0) > 0,
    residentBytes: () => process.memoryUsage.rss(),
    letGo,
  });
  const onRest = (): void => rest.begins();
  const opening = await openJournal({
    control,
    directory,
    durability,
    observer,
    onFatal,
    drain: options.drain,
    onRest,
  });
  const { journal, recovered } = opening;
  processes.tellLag(() => journal.lag);

  const configSnapshot = new ConfigSnapshotHolder(
    {
      ...{ controlStore: { configSnapshot: readConfigSnapshot }, clock, observer },
      alsoRead: () => useOidc({ signIn, controlStore, rights: control.rights, observer }),
    },
    first,
  );
  inForce = () => configSnapshot.current;
  const counting = await openCounter({ environment, control, configSnapshot, journal, observer, metrics });
  const reports = await (options.openReports ?? openReports)({ place, clock, observer });
  // What money is counted by: a clock that is set by mistake opens no new month.
  const steady = steadyClock(clock, observer);
  const spending = { reports, settled: (signal: AbortSignal) => journal.drained(signal), observer };
  const admission = new Admission({ counter: counting.counter, clock: steady, spending });
  const booked = entriesToldTo(admission, observer);
  opening.tellAdopted(adoptedToldTo(admission, observer));
  const router = openRouter({ providerClient, clock, observer });
  const recorder = createRecorder({ journal, clock: steady, ids, observer: booked });
  const explainer = openExplainer({
    ...{ control, configSnapshot, observer, metrics, writer: options.explainWriter },
    content: telemetry?.content ?? null,
  });
  const explain = createExplainStore(control.database, clock);
  const { bodies, offload } = openBodyWork({ clock, ids, observer });
  const { memory, spoolBytes, connections } = openCallerMemory(environment, clock);
  const relay = new Relay({
    sharesAccount: sharedAccounts(() => configSnapshot.current),
    sharesLedger: database.flavour.name === "postgres",
    bodies,
    configSnapshot: () => configSnapshot.current,
    router,
    admission,
    recorder,
    journal,
    transport,
    providerClient,
    background: () => media.videos.responses,
    ...{ objectStore, ids, clock, observer, explainer, memory, ...tracing },
  });
  const feed = createChangeFeed({ database, clock, observer, broadcast });
  const authenticator = new Authenticator({
    ...{ vault, clock },
    keyStore: controlStore,
    configSnapshot: () => configSnapshot.current,
    changesKnownAtMs: () => feed.currentAtMs,
  });
  const stopFeed = feed.subscribe((change) => {
    authenticator.changed(change);
    reports.forget();
    if (change.kind === "config") void configSnapshot.refresh().then(prepareDemo);
  });
  const prepareDemo = (): void => {
    const wanted = [...configSnapshot.current.providers.values()].some(
      ({ kind, enabled }) => kind === "demo" && enabled,
    );
    if (wanted) void demo.prepare();
  };
  const changesSeen = async (): Promise<void> => {
    await feed.catchUp();
    await configSnapshot.settled();
  };
  // What changed between the first reading and the subscription is in this second one, once the feed knows where it begins.
  await feed.catchUp();
  await configSnapshot.refresh();
  const setup = await createSetup({
    ...{ signIn, people, ...sharedSetup(control, processes) },
    randomToken: options.randomToken,
    ...(options.onSetUp === undefined ? {} : { onCompleted: options.onSetUp }),
  });
  const spooling = { directory: join(environment.dataDir, "spool"), memoryBytesMax: spoolBytes };
  const spool = createSpool({ ...spooling, nextName: () => ids.next("spool_") });
  const media = openMedia({
    environment,
    control,
    configSnapshot,
    router,
    admission,
    recorder,
    journal,
    transport,
    providerClient,
    spool,
    observer: booked,
    explainer,
    ...{ bodies, memory },
  });
  await media.start();
  let opened: Listeners | null = null;
  const callsUrl = (): string | null => callsUrlOf(environment, opened?.calls.port ?? environment.port);
  const agentSettings = agentSettingsBy(control.agents, agentTelemetry);
  let asKey: ReturnType<typeof createAsKey> | null = null;
  const { console, notices, agentSignIn } = openConsole({
    environment,
    control,
    configSnapshot,
    router,
    admission,
    transport,
    providerClient,
    signIn,
    authenticator,
    observer,
    media,
    reports,
    explain,
    ...{ tail, configFile, callsUrl, agentSettings },
    version: processes.instance.version,
    processFacts: numbers,
    answerAs: async (call) => {
      if (asKey === null) throw new Failure("draining", "The gateway is starting.");
      return await asKey(call);
    },
    changesSeen,
    ...{ leadership, metrics },
  });
  const admin = createAdmin({
    files: await openStaticFiles(staticRoots()),
    setup,
    openTries: control.openTries,
    clock,
    observer,
    version,
    publicUrl: consoleUrl(environment),
    callsUrl,
    randomToken: options.randomToken,
    demo: () => [...configSnapshot.current.providers.values()].every((provider) => provider.kind === "demo"),
    console,
  });
  const usageAsks = new AskRate(clock);
  let leaving = false;
  let departing = false;
  let draining = false;
  const watched = { journal, databaseWatch, configFile, configSnapshot, clock };
  const apiDependencies: ApiDependencies = {
    authenticator,
    agentSignIn,
    ...{ agentSettings, agentTelemetry },
    consoleUrl: () => consoleOrigin(environment, opened?.console.port),
    relay,
    videos: media.videos,
    assets: media.assets,
    publicUrl: callsUrl,
    configSnapshot: () => configSnapshot.current,
    clock,
    ids,
    ...{ observer, explainer, ...tracing },
    ...{ bodies, memory, connections, spool },
    draining: () => draining,
    leaving: () => leaving || departing,
    handshakeProblem: metrics.handshakeProblem,
    ...readiness({ ...watched, leaving: () => leaving, database, counting, feed }),
    metricsText: () => numbers.text(),
    ...{ metricsType: metrics.contentType, metricsKey: environment.metricsKey },
    countCall: callCounter(admission),
    keyUsage: (principal, from, to) => {
      usageAsks.take(principal.key.id);
      return reports.keyUsage(principal.key.id, from, to);
    },
    periodSpend: (principal) => {
      usageAsks.take(principal.key.id);
      return periodSpend(reports, principal, clock);
    },
    limitUsage: async (principal) => (await admission.limitUsages(principal.scopes)).map(limitUsageRow),
    admin: admin.fetch,
  };
  asKey = createAsKey(apiDependencies);
  notices.start();
  let certificate = options.certificate ?? null;
  const stopLoopWatch = registerNumbers(metrics, {
    ...{ ...watched, relay, admission, memory, connections, router },
    ...{ dataDir: environment.dataDir, metricsWorkspaces: environment.metricsWorkspaces },
    videos: media.videos,
    listeners: () => opened,
    certificateEndsAt: certificate === null ? null : () => certificate?.endsAt ?? 0,
  });
  let stopUpkeep: ReturnType<typeof startUpkeep> | null = null;
  const endWork = async (ending: Ending): Promise<void> => {
    await ending.step("threads for bodies", () => offload.close());
    await ending.step("videos and assets", () => media.stop(), bounds.endStepMsMax);
    await ending.step("notices", () => notices.stop());
    stopFeed();
    configSnapshot.close();
    stopLoopWatch();
    rest.close();
    await ending.step("journals of other processes", () => opening.stopAdoption());
    admission.close();
    await ending.step("reports", () => reports.close());
    await stopUpkeep?.(ending);
    await ending.step("leases and words to other processes", () => processes.close());
    await ending.step("explanations", () => explainer.close(bounds.lastBytesMs));
    recorder.flush();
    await ending.step("counter", () => counting.close(), bounds.endStepMsMax);
    await ending.lastStep("journal", (ms) => journal.close(ms));
    await ending.step("watch of the database", () => databaseWatch.close());
  };
  let listeners: Listeners;
  try {
    const { idleSeconds } = options;
    const listening = { environment, certificate, ...(idleSeconds === undefined ? {} : { idleSeconds }) };
    listeners = await openListenersInTurn(apiDependencies, listening, link);
  } catch (thrown) {
    // What looks for work by itself must not meet a database that is closed under it, and complain of that.
    await endWork(new Ending({ clock, observer }));
    throw thrown;
  }
  opened = listeners;
  // A start that fails prints why, and nothing else.
  stopUpkeep = startUpkeep({
    ...{ environment, control, ledgerStore, configSnapshot, explainer, transport, leadership, metrics, observer },
    clock: steady,
  });
  prepareDemo();

  if (recovered > 0) {
    observer.log("info", "Calls of an earlier run were put right.", { entries: recovered });
  }

  const close = async ({ graceMs, hurried }: Leave = atOnce): Promise<void> => {
    leaving = true;
    if (graceMs > 0) await sleep(clock, graceMs, hurried);
    draining = true;
    observer.log("info", "New calls are refused; those under way are waited for.", { pending: listeners.pending() });
    listeners.leave();
    // A live view has no end of its own that the drain could wait for.
    tail.close();
    const { drainTimeoutMs } = configSnapshot.current.settings;
    await waitUntil(clock, drainTimeoutMs, () => hurried.aborted || listeners.pending() === 0);
    if (listeners.pending() > 0) {
      observer.log("warn", "Calls under way are ended.", { pending: listeners.pending(), hurried: hurried.aborted });
    }
    relay.abortStreams(new Failure("draining", "The gateway is shutting down."));
    const calm = () => relay.liveStreams === 0 && listeners.pending() === 0 && listeners.sockets() === 0;
    await waitUntil(clock, bounds.lastBytesMs, calm);
    const ending = new Ending({ clock, observer });
    await ending.step("listeners", () => listeners.stop());
    await endWork(ending);
    await ending.step("database", () => control.close());
    ending.tell();
    told.flush();
    await ending.step("telemetry", () => Promise.all([telemetry?.close(), agentTelemetry?.close()]));
    told.flush();
    ending.check();
  };
  return {
    leavePlace: async (signal) => {
      departing = true;
      tail.close();
      await depart({ listeners, clock, observer, timeoutMs: configSnapshot.current.settings.drainTimeoutMs, signal });
    },
    lastReport: () => metrics.report(),
    renewCertificate: async (next) => {
      await listeners.renew(next);
      certificate = next;
    },
    server: listeners.calls,
    consolePort: listeners.console.port,
    observer,
    setup,
    configSnapshot,
    journal,
    ...{ explainer, explain, recovered },
    outstanding: () => admission.outstanding,
    close,
  };
}

const atOnce: Leave = { graceMs: 0, hurried: new AbortController().signal };
