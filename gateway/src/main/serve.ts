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
import { letGo, systemClock } from "#system/index.ts";
import { createLogWriter, createMetrics, createObserver } from "#telemetry/index.ts";
import { createWorkerLink, processChannel, Supervisor, type WorkerLink, workerSpawner } from "#workers/index.ts";
import { startCertificate, watchCertificate } from "./certificate.ts";
import { ConfigSource } from "./config-file.ts";
import { CannotStart, type Control, keepToOneBlobFolder, openControl } from "./control.ts";
import { Ending } from "./ending.ts";
import { starterProviders } from "./first-start.ts";
import type { Gateway } from "./gateway.ts";
import type { GatewayOptions } from "./gateway-options.ts";
import { openSlot } from "./open-journal.ts";
import { beOneOfSeveral, beOnlyProcess, inTurn, openProcesses, type Processes } from "./processes.ts";
import { foldReports } from "./worker-numbers.ts";

export interface ServeOptions {
  readonly variables: Variables;
  readonly version: string;
  /** The commit: its hash, with `-dirty` or `-checkout` behind it where files may differ; or `unknown`. */
  readonly revision: string;
  /** Shows the banner. */
  readonly print: (text: string) => void;
  /** A person reads what is printed, and nobody collects it. */
  readonly interactive: boolean;
}

/** Runs the gateway until it is told to end. Resolves when everything is flushed and closed. */
export async function serve(environment: Environment, options: ServeOptions): Promise<void> {
  await serveUntil({ signals: listenForSignals(systemClock), link: null }, environment, options);
}

/** Runs one of several workers until it is told to end, or another takes its place. */
export async function serveWorker(environment: Environment, options: ServeOptions): Promise<void> {
  const signals = listenForSignals(systemClock);
  const channel = processChannel();
  if (channel === null) throw new CannotStart("A worker is started by `serve` with SLUICE_WORKERS, not by hand.");
  await serveUntil({ signals, link: createWorkerLink(channel, systemClock) }, environment, options);
}

interface Told {
  readonly signals: StopSignals;
  /** null: this process is the whole gateway. */
  readonly link: WorkerLink | null;
  /** Rejects when this process must end. */
  readonly broken: Promise<never>;
}

async function serveUntil(
  { signals, link }: Omit<Told, "broken">,
  environment: Environment,
  options: ServeOptions,
): Promise<void> {
  const { tls, configFile } = environment;
  const { variables, version, revision } = options;
  const certificate = tls === null ? null : await startCertificate(tls);
  const { promise: broken, reject: onFatal } = Promise.withResolvers<never>();
  // Heard when the gateway runs, also when it comes before.
  broken.catch(() => undefined);
  // Why the process ends is told by whoever catches it; what else does not end has nobody to tell.
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
    // What is loaded next takes the room of what has done its work, as the reading of a config file has.
    await letGo();
    // Only now: a start that fails, and a command that opens the data directory only, load none of it.
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
    gateway.observer.log("info", "The gateway takes calls.", {
      ...{ version, revision, port: gateway.server.port },
      // By which the supervisor tells of it.
      ...(link === null ? {} : { pid: process.pid }),
    });
    await runUntilTold({ signals, link, broken }, environment, gateway, watches, secrets);
  } catch (thrown) {
    await start.close();
    throw thrown;
  }
}

/** Opens the data directory and the database for this process, alone or with those who count in the same Redis. */
async function openOwnControl(environment: Environment, onFatal: (error: Error) => void, start: Ending) {
  const { databaseUrl, redisUrl, dataDir } = environment;
  const paths = dataPaths(dataDir);
  prepareDataDirectory(paths.dataDir);
  if (databaseUrl === null) refuseLostDatabase(paths);
  // Held from here on: a second gateway changes nothing, neither the schema nor what a config file says.
  const held = databaseUrl === null ? openJournalDirectory(paths.journal) : null;
  start.defer("journal", () => held?.release());
  const opened = await openControl(environment, { held: true });
  start.defer("database", () => opened.close());
  const directory = held ?? openSlot({ control: opened, alone: redisUrl === null });
  if (held === null) start.defer("journal", () => directory.release());
  const leave = databaseUrl === null ? null : await joinDatabase(redisUrl === null, opened, onFatal);
  start.defer("place among the processes", () => leave?.());
  const control: Control = {
    ...opened,
    async close() {
      await leave?.();
      await opened.close();
    },
  };
  await keepToOneBlobFolder(environment, control);
  return { control, directory };
}

/** Takes the database for this process alone, or a place beside others. Gives how to leave. */
async function joinDatabase(
  alone: boolean,
  { database, instanceId: owner, instances, clock }: Control,
  onTaken: (error: Error) => void,
): Promise<() => Promise<void>> {
  const options = { leases: createLeases(database), owner, clock };
  const hasOthers = async () => (await instances.list()).some(({ id, isAlive }) => isAlive && id !== owner);
  return alone ? await beOnlyProcess({ ...options, onTaken }) : await beOneOfSeveral({ ...options, hasOthers });
}

/** Makes what a new installation has by itself, and refuses to let others reach one that nobody governs. */
async function prepareFirstStart(environment: Environment, control: Control, processes: Processes) {
  const { clock, controlStore, people } = control;
  // The config file may have declared an administrator.
  const governed = environment.administrator !== null || (await people.administratorExists());
  if (!governed) refuseOpenHosts(environment);
  const secrets = new FirstSecrets(environment.dataDir);
  // Those of an earlier run: the key's holder has the console.
  if (governed) secrets.remove();
  const seeding = () => starterProviders(environment, controlStore, clock.now());
  const { leadership } = processes;
  return { secrets, ...(await inTurn({ leadership, clock }, "first start", seeding)) };
}

/** Until there is an administrator nobody but this machine may reach the set-up. */
function refuseOpenHosts({ host, admin }: Environment): void {
  const [name, open] = isLoopbackHost(host) ? ["SLUICE_ADMIN_HOST", admin?.host ?? host] : ["SLUICE_HOST", host];
  if (isLoopbackHost(open)) return;
  throw new CannotStart(
    `${name} is ${open}, which others can reach, but there is no administrator yet. ` +
      "Start on 127.0.0.1 and use the set-up link, or set SLUICE_ADMIN_EMAIL and SLUICE_ADMIN_PASSWORD.",
  );
}

type Watches = ReturnType<typeof watchFiles>;

function watchFiles(
  {
    environment,
    control,
    certificate,
    link,
  }: Required<Pick<GatewayOptions, "environment" | "control" | "certificate" | "link">>,
  gateway: Gateway,
  configSource: ConfigSource | null,
) {
  const { observer, renewCertificate: changed, changesSeen } = gateway;
  const { tls } = environment;
  return {
    config: configSource?.watch(observer, changesSeen) ?? null,
    // Several workers are replaced one by one by their supervisor.
    certificate:
      tls !== null && certificate !== null && link === null
        ? watchCertificate(tls, { first: certificate, clock: control.clock, observer, changed })
        : null,
  };
}

const noWorkers =
  "SIGUSR2 replaces workers one by one, but this gateway is one process (SLUICE_WORKERS); nothing is done.";

/** Resolves when the gateway was told to end and has ended. Throws why it had to. */
async function runUntilTold(
  { signals, link, broken }: Told,
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
  const hurried = link === null ? signals.hurried : AbortSignal.any([signals.hurried, link.hurried]);
  try {
    const asked = [signals.stopped, broken];
    const reason = await Promise.race(link === null ? asked : [...asked, link.left.then(() => "replaced" as const)]);
    // Somebody at a terminal waits; a load balancer has to see first that this one is leaving.
    if (reason !== "SIGINT" && reason !== "replaced") graceMs = environment.drainGraceMs;
    observer.log("info", "The gateway was asked to end.", { reason, graceMs });
    const drainTimeoutMs = configSnapshot.current.settings.drain_timeout_ms;
    link?.ending(graceMs + drainTimeoutMs + bounds.lastBytesMs + bounds.flushMs);
    if (reason === "replaced") await Promise.race([gateway.leavePlace(hurried), ...asked]);
  } finally {
    if (link === null) secrets.removeOwnLink();
    const ending = new Ending({ clock: systemClock, observer });
    await ending.step("watch of the config file", () => watches.config?.close());
    await ending.step("watch of the certificate", () => watches.certificate?.close());
    await ending.step("last numbers", async () => link?.lastReport(await gateway.lastReport()));
    await gateway.close({ graceMs, hurried });
  }
}

export interface ServeWorkersOptions extends ServeOptions {
  /** The command line that starts one worker. */
  readonly command: readonly string[];
}

/** Runs several workers until they are told to end. Resolves with the exit status when all have ended. */
export async function serveWorkers(environment: Environment, options: ServeWorkersOptions): Promise<number> {
  if (process.platform !== "linux") {
    throw new CannotStart(
      `SLUICE_WORKERS is ${environment.workers}, but only Linux shares the calls to one port out among processes. ` +
        "Set it to 1, or start several gateways on ports of their own behind a load balancer.",
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
          // What a worker shows stays what it is; the next one shows another.
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
    // The link was for this run alone, whichever worker made it.
    new FirstSecrets(environment.dataDir).removeLink();
  }
}

/** What asked the gateway to end. */
type StopReason = "SIGTERM" | "SIGINT" | "launcher gone";

type StopSignals = ReturnType<typeof listenForSignals>;

/**
 * Listens from the very beginning to the end of the process, so that no signal ends one that is half built, or half gone, and
 * leaves something behind.
 *
 * One request to end often comes several times: a terminal and a supervisor signal the whole process group, and npm and our
 * launcher each pass on what they got. What comes within bounds.sameSignalMs of the first is that first one again.
 *
 * The launcher (scripts/start.mjs) holds a channel to this process. When it closes the launcher was killed, and nobody could
 * stop this process by the name it was started by any more; so that too is a request to end.
 */
function listenForSignals(clock: Clock) {
  const stopped = Promise.withResolvers<StopReason>();
  const hurried = new AbortController();
  let firstMs: number | null = null;
  let reload: (() => void) | null = null;
  let missedReload = false;
  let replace = (): void => {};

  const stop = (reason: StopReason): void => {
    const nowMs = clock.monotonic();
    firstMs ??= nowMs;
    stopped.resolve(reason);
    if (reason !== "launcher gone" && nowMs - firstMs > bounds.sameSignalMs) hurried.abort();
  };
  process.on("SIGTERM", () => stop("SIGTERM"));
  process.on("SIGINT", () => stop("SIGINT"));
  process.on("SIGHUP", () => {
    if (reload === null) missedReload = true;
    else reload();
  });
  // It would end the process if nobody listened.
  process.on("SIGUSR2", () => replace());
  process.on("disconnect", () => stop("launcher gone"));
  return {
    /** Resolves at the first request to end. */
    stopped: stopped.promise,
    /** Aborted by a later, deliberate one: whoever waits is tired of it. */
    hurried: hurried.signal,
    /** From now on SIGHUP calls `act`; one that came earlier does so at once. */
    onReload: (act: () => void): void => {
      reload = act;
      if (missedReload) act();
    },
    /** SIGUSR2, which replaces workers, calls `act`; before that it is passed over. */
    onReplace: (act: () => void): void => {
      replace = act;
    },
  };
}
