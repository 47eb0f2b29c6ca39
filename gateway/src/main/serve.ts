import { randomBytes } from "node:crypto";
import type { Environment, Variables } from "#config/index.ts";
import { bounds, isLoopbackHost } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import {
  createLeases,
  dataPaths,
  FirstSecrets,
  openJournalDirectory,
  prepareDataDirectory,
  refuseLostDatabase,
} from "#storage/index.ts";
import { releaseMemory, systemClock } from "#system/index.ts";
import { createLogWriter, createMetrics, createObserver } from "#telemetry/index.ts";
import { createWorkerLink, processChannel, Supervisor, type WorkerLink, workerSpawner } from "#workers/index.ts";
import { startCertificate, watchCertificate } from "./certificate.ts";
import { ConfigSource } from "./config-file.ts";
import { CannotStart, type Control, openControl, requireSharedBlobFolder } from "./control.ts";
import { Ending } from "./ending.ts";
import { starterProviders } from "./first-start.ts";
import type { Gateway } from "./gateway.ts";
import type { GatewayOptions } from "./gateway-options.ts";
import { openSlot } from "./open-journal.ts";
import { inTurn, joinSharedDatabase, openProcesses, type Processes, reserveDatabase } from "./processes.ts";
import { foldReports } from "./worker-numbers.ts";

export interface ServeOptions {
  readonly variables: Variables;
  readonly version: string;
  /** The commit hash, with `-dirty` or `-checkout` appended if files may differ; or `unknown`. */
  readonly revision: string;
  /** Prints the banner. */
  readonly print: (text: string) => void;
  /** Standard output is a person's terminal. */
  readonly interactive: boolean;
}

/** Runs the gateway until it is stopped. Resolves when everything is flushed and closed. */
export async function serve(environment: Environment, options: ServeOptions): Promise<void> {
  await serveUntil({ signals: listenForSignals(systemClock), link: null }, environment, options);
}

/** Runs one of several workers until it is stopped or replaced. */
export async function serveWorker(environment: Environment, options: ServeOptions): Promise<void> {
  const signals = listenForSignals(systemClock);
  const channel = processChannel();
  if (channel === null) throw new CannotStart("Workers are started by `serve` with SLUICE_WORKERS.");
  await serveUntil({ signals, link: createWorkerLink(channel, systemClock) }, environment, options);
}

interface StopSources {
  readonly signals: StopSignals;
  /** null if there is only one process. */
  readonly link: WorkerLink | null;
  /** Rejects when this process must end. */
  readonly fatal: Promise<never>;
}

async function serveUntil(
  { signals, link }: Omit<StopSources, "fatal">,
  environment: Environment,
  options: ServeOptions,
): Promise<void> {
  const { tls, configFile } = environment;
  const { variables, version, revision } = options;
  const certificate = tls === null ? null : await startCertificate(tls);
  const { promise: fatal, reject: onFatal } = Promise.withResolvers<never>();
  // Handled once the gateway runs.
  fatal.catch(() => undefined);
  // The error of a failed start is reported by the caller.
  const start = new Ending({ clock: systemClock, observer: { log: () => undefined } });
  try {
    const { control, directory } = await openOwnControl(environment, onFatal, start);
    const processes = await openProcesses({ ...options, control });
    start.defer("processes", () => processes.close());
    const configSource =
      configFile === null ? null : new ConfigSource({ file: configFile, environment, control, processes, variables });
    await configSource?.start();
    const refused = configSource?.refused ?? null;
    const first = await prepareFirstStart(environment, control, processes);
    const { secrets } = first;
    // Frees the memory of the start, such as a parsed config file.
    await releaseMemory();
    // Loaded late, so that a failed start does not load it.
    const { createGateway } = await import("./gateway.ts");
    const gateway = await createGateway({
      ...{ environment, control, directory, processes, certificate, link, version, revision, variables, onFatal },
      configRefused: refused !== null,
      randomToken: () => randomBytes(32).toString("base64url"),
      onSetUp: () => secrets.remove(),
    });
    const watches = watchFiles({ environment, control, certificate, link }, gateway, configSource);
    const { announcement } = await import("./announcement.ts");
    const shown = await announcement({ environment, control, processes, gateway, refused, ...first, ...options });
    if (link === null) options.print(shown);
    else link.ready(shown);
    gateway.observer.log("info", "gateway ready", {
      ...{ version, revision, port: gateway.server.port },
      // Identifies the worker in the log.
      ...(link === null ? {} : { pid: process.pid }),
    });
    await runUntilStopped({ signals, link, fatal }, environment, gateway, watches, secrets);
  } catch (thrown) {
    await start.close();
    throw thrown;
  }
}

/** Opens the data directory and the database, alone or together with the processes that use the same Redis. */
async function openOwnControl(environment: Environment, onFatal: (error: Error) => void, start: Ending) {
  const { databaseUrl, redisUrl, dataDir } = environment;
  const paths = dataPaths(dataDir);
  prepareDataDirectory(paths.dataDir);
  if (databaseUrl === null) refuseLostDatabase(paths);
  // Locked before anything is changed.
  const locked = databaseUrl === null ? openJournalDirectory(paths.journal) : null;
  start.defer("journal", () => locked?.release());
  const opened = await openControl(environment, { held: true });
  start.defer("database", () => opened.close());
  const directory = locked ?? openSlot({ control: opened, alone: redisUrl === null });
  if (locked === null) start.defer("journal", () => directory.release());
  const leave = databaseUrl === null ? null : await joinDatabase(redisUrl === null, opened, onFatal);
  start.defer("registration of the process", () => leave?.());
  const control: Control = {
    ...opened,
    async close() {
      await leave?.();
      await opened.close();
    },
  };
  await requireSharedBlobFolder(environment, control);
  return { control, directory };
}

/** Reserves the database for this process, or joins the others. Returns a function that leaves it. */
async function joinDatabase(
  alone: boolean,
  { database, instanceId: owner, instances, clock }: Control,
  onTakenOver: (error: Error) => void,
): Promise<() => Promise<void>> {
  const options = { leases: createLeases(database), owner, clock };
  const hasOthers = async () => (await instances.list()).some(({ id, isAlive }) => isAlive && id !== owner);
  return alone
    ? await reserveDatabase({ ...options, onTakenOver })
    : await joinSharedDatabase({ ...options, hasOthers });
}

/** Creates the objects of a new installation. Throws CannotStart if the ports are public and there is no administrator. */
async function prepareFirstStart(environment: Environment, control: Control, processes: Processes) {
  const { clock, controlStore, people } = control;
  // The config file may declare an administrator.
  const hasAdministrator = environment.administrator !== null || (await people.administratorExists());
  if (!hasAdministrator) refusePublicHosts(environment);
  const secrets = new FirstSecrets(environment.dataDir);
  if (hasAdministrator) secrets.remove();
  const seeding = () => starterProviders(environment, controlStore, clock.now());
  const { leadership } = processes;
  return { secrets, ...(await inTurn({ leadership, clock }, "first start", seeding)) };
}

/** The setup must not be reachable from other machines. */
function refusePublicHosts({ host, admin }: Environment): void {
  const [name, address] = isLoopbackHost(host) ? ["SLUICE_ADMIN_HOST", admin?.host ?? host] : ["SLUICE_HOST", host];
  if (isLoopbackHost(address)) return;
  throw new CannotStart(
    `${name} is ${address}, which other machines can reach, but there is no administrator yet. ` +
      "Start on 127.0.0.1 and use the setup link, or set SLUICE_ADMIN_EMAIL and SLUICE_ADMIN_PASSWORD.",
  );
}

type Watches = ReturnType<typeof watchFiles>;

type WatchOptions = Required<Pick<GatewayOptions, "environment" | "control" | "certificate" | "link">>;

function watchFiles(
  { environment, control, certificate, link }: WatchOptions,
  gateway: Gateway,
  configSource: ConfigSource | null,
) {
  const { observer, renewCertificate: changed, changesSeen } = gateway;
  const { tls } = environment;
  return {
    config: configSource?.watch(observer, changesSeen) ?? null,
    // The supervisor replaces workers instead.
    certificate:
      tls !== null && certificate !== null && link === null
        ? watchCertificate(tls, { first: certificate, clock: control.clock, observer, changed })
        : null,
  };
}

const noWorkers = "ignoring SIGUSR2: it replaces workers, and this gateway has none (SLUICE_WORKERS)";

/** Resolves when the gateway was stopped and closed. Throws the fatal error that ended it. */
async function runUntilStopped(
  { signals, link, fatal }: StopSources,
  environment: Environment,
  gateway: Gateway,
  watches: Watches,
  secrets: FirstSecrets,
): Promise<void> {
  const { observer, configSnapshot } = gateway;
  signals.onReload(() => {
    void watches.config?.trigger();
    void watches.certificate?.trigger();
  });
  if (link === null) signals.onReplace(() => observer.log("warn", noWorkers));
  let graceMs = 0;
  const forced = link === null ? signals.forced : AbortSignal.any([signals.forced, link.forced]);
  try {
    const stopped = [signals.stopped, fatal];
    const reason = await Promise.race(
      link === null ? stopped : [...stopped, link.left.then(() => "replaced" as const)],
    );
    // Load balancers need the grace period; a person at a terminal does not.
    if (reason !== "SIGINT" && reason !== "replaced") graceMs = environment.drainGraceMs;
    observer.log("info", "shutting down", { reason, graceMs });
    const drainTimeoutMs = configSnapshot.current.settings.drain_timeout_ms;
    link?.ending(graceMs + drainTimeoutMs + bounds.lastBytesMs + bounds.flushMs);
    if (reason === "replaced") await Promise.race([gateway.waitForConnections(forced), ...stopped]);
  } finally {
    if (link === null) secrets.removeOwnLink();
    const ending = new Ending({ clock: systemClock, observer });
    await ending.step("watch of the config file", () => watches.config?.close());
    await ending.step("watch of the certificate", () => watches.certificate?.close());
    await ending.step("last numbers", async () => link?.lastReport(await gateway.lastReport()));
    await gateway.close({ graceMs, forced });
  }
}

export interface ServeWorkersOptions extends ServeOptions {
  /** The command line that starts one worker. */
  readonly command: readonly string[];
}

/** Runs several workers until they are stopped. Resolves with the exit status when all have ended. */
export async function serveWorkers(environment: Environment, options: ServeWorkersOptions): Promise<number> {
  if (process.platform !== "linux") {
    throw new CannotStart(
      `SLUICE_WORKERS is ${environment.workers}, but only Linux distributes the connections of a port among processes. ` +
        "Set it to 1, or start several gateways on different ports behind a load balancer.",
    );
  }
  const write = createLogWriter(process.stderr);
  const format = environment.logFormat ?? (process.stderr.isTTY === true ? "pretty" : "json");
  const observer = createObserver({
    level: environment.logLevel,
    format,
    clock: systemClock,
    metrics: createMetrics(),
    ...(format === "json" ? { write } : {}),
  });
  const supervisor = new Supervisor({
    count: environment.workers,
    start: workerSpawner({
      words: [...options.command, ...(options.interactive ? ["--interactive"] : [])],
      env: { ...options.variables, SLUICE_LOG_FORMAT: format },
      write,
    }),
    fold: foldReports,
    clock: systemClock,
    log: (level, message, fields) => observer.log(level, message, fields),
    print: options.print,
  });
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => supervisor.stop(signal));
  const { tls } = environment;
  const certificates =
    tls === null
      ? null
      : watchCertificate(tls, {
          first: await startCertificate(tls),
          clock: systemClock,
          observer,
          // New workers load the new certificate.
          changed: async () => supervisor.roll(),
        });
  process.on("SIGHUP", () => {
    supervisor.reload();
    void certificates?.trigger();
  });
  process.on("SIGUSR2", () => supervisor.roll());
  process.on("disconnect", () => supervisor.stop("SIGTERM"));
  try {
    return await supervisor.run();
  } finally {
    await certificates?.close();
    // The setup link is valid for this run only.
    new FirstSecrets(environment.dataDir).removeLink();
  }
}

type StopReason = "SIGTERM" | "SIGINT" | "launcher gone";

type StopSignals = ReturnType<typeof listenForSignals>;

/**
 * Handles signals from the start to the end of the process, so that none interrupts a start or a shutdown.
 *
 * One stop often arrives several times: a terminal signals the whole process group, and npm and our launcher forward signals. Signals
 * within bounds.sameSignalMs of the first one count as the same. When the launcher (scripts/start.mjs) is killed its channel closes,
 * which also stops the gateway.
 */
function listenForSignals(clock: Clock) {
  const stopped = Promise.withResolvers<StopReason>();
  const forced = new AbortController();
  let firstMs: number | null = null;
  let reload: (() => void) | null = null;
  let isReloadPending = false;
  let replace = (): void => {};

  const stop = (reason: StopReason): void => {
    const nowMs = clock.monotonic();
    firstMs ??= nowMs;
    stopped.resolve(reason);
    if (reason !== "launcher gone" && nowMs - firstMs > bounds.sameSignalMs) forced.abort();
  };
  process.on("SIGTERM", () => stop("SIGTERM"));
  process.on("SIGINT", () => stop("SIGINT"));
  process.on("SIGHUP", () => {
    if (reload === null) isReloadPending = true;
    else reload();
  });
  // Without a listener it would end the process.
  process.on("SIGUSR2", () => replace());
  process.on("disconnect", () => stop("launcher gone"));
  return {
    /** Resolves at the first request to stop. */
    stopped: stopped.promise,
    /** Aborted by a second request to stop, which ends every wait. */
    forced: forced.signal,
    /** Calls `act` on SIGHUP, and at once if one was received before. */
    onReload: (act: () => void): void => {
      reload = act;
      if (isReloadPending) act();
    },
    /** Calls `act` on SIGUSR2. */
    onReplace: (act: () => void): void => {
      replace = act;
    },
  };
}
