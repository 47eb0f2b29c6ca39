/**
 * main: builds the gateway from its modules, runs it, and stops it in order. It is the only place that connects modules to
 * the implementations of their ports. `serve` runs the gateway; `openControl` opens only the database and the vault, for
 * single commands.
 *
 * When the gateway cannot start, it says why in one line and exits.
 */
import { randomBytes } from "node:crypto";
import { type ConfigWatch, type Environment, fileState, isLoopbackHost } from "#config/index.ts";
import { bounds } from "#core/index.ts";
import {
  createLeases,
  dataPaths,
  FirstSecrets,
  openJournalDirectory,
  prepareDataDirectory,
  refuseLostDatabase,
} from "#storage/index.ts";
import { letGo, systemClock } from "#system/index.ts";
import { createWorkerLink, processChannel, type WorkerLink } from "#workers/index.ts";
import { CannotStart } from "./main/cannot-start.ts";
import { startCertificate, watchCertificate } from "./main/certificate.ts";
import { type AppliedConfig, applyAtStart, logConfigWarnings, watchConfig } from "./main/config-source.ts";
import { type Control, openControl } from "./main/control.ts";
import { Ending } from "./main/ending.ts";
import { starterProviders } from "./main/first-start.ts";
import { beOneOfSeveral, beOnlyProcess } from "./main/only-process.ts";
import { keepToOneBlobFolder } from "./main/open-blobs.ts";
import { openSlot } from "./main/open-journal.ts";
import { inTurn, openProcesses, type Processes } from "./main/processes.ts";
import type { ServeOptions } from "./main/serve-options.ts";
import { type SharedConfig, sharedConfig } from "./main/shared-config.ts";
import { listenForSignals, type StopSignals } from "./main/stop-signals.ts";

export { CertificateUnusable, readCertificate } from "./main/certificate.ts";
export { configWarnings } from "./main/config-warnings.ts";
export { type Control, openControl, placeOf } from "./main/control.ts";
export { kindCheck } from "./main/kind-check.ts";
export { networkOf } from "./main/network.ts";
export { readPriceListFrom } from "./main/price-list-source.ts";
export { listProcesses } from "./main/processes.ts";
export type { ServeOptions } from "./main/serve-options.ts";
export { serveWorkers } from "./main/serve-workers.ts";
export { webhookSecretOf } from "./main/webhook-secret.ts";

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

const noWorkers =
  "SIGUSR2 replaces workers one by one, but this gateway is one process (SLUICE_WORKERS); nothing is done.";

interface Told {
  readonly signals: StopSignals;
  /** null: this process is the whole gateway. */
  readonly link: WorkerLink | null;
}

async function serveUntil({ signals, link }: Told, environment: Environment, options: ServeOptions): Promise<void> {
  const { tls } = environment;
  const certificate = tls === null ? null : await startCertificate(tls);
  const paths = dataPaths(environment.dataDir);
  prepareDataDirectory(paths.dataDir);
  if (environment.databaseUrl === null) refuseLostDatabase(paths);
  // Held from here on: a second gateway changes nothing, neither the schema nor what a config file says.
  let directory = environment.databaseUrl === null ? openJournalDirectory(paths.journal) : null;
  let control: Control | null = null;
  let processes: Processes | null = null;
  let shared: SharedConfig | null = null;
  let watch: ConfigWatch | null = null;
  let certificateWatch: ConfigWatch | null = null;
  try {
    control = await openControl(environment, { held: true });
    directory ??= openSlot({ control, alone: environment.redisUrl === null });
    const { controlStore } = control;
    const broken = Promise.withResolvers<never>();
    // Heard when the gateway runs, also when it comes before.
    broken.promise.catch(() => undefined);
    control = await joinDatabase(environment, control, broken.reject);
    await keepToOneBlobFolder(environment, control);
    processes = await openProcesses({ ...options, control });
    let state = "";
    let appliedAtStart: AppliedConfig = { report: [], warnings: [] };
    let refused: string | null = null;
    if (environment.configFile !== null) {
      state = await fileState(environment.configFile);
      const { variables } = options;
      shared = sharedConfig({ file: environment.configFile, environment, control, processes, variables });
      if (shared === null) {
        const applied = await applyAtStart(environment.configFile, { ...control, environment, variables });
        appliedAtStart = applied;
        ({ refused } = applied);
      } else {
        await shared.start();
        ({ refused } = shared);
      }
    }
    // The file may have declared one.
    const governed = environment.administrator !== null || (await control.people.administratorExists());
    if (!governed) refuseOpenHosts(environment);
    const secrets = new FirstSecrets(environment.dataDir);
    // Those of an earlier run: the key's holder has the console.
    if (governed) secrets.remove();
    const { clock } = control;
    const seeding = () => starterProviders(environment, controlStore, clock.now());
    const { leadership } = processes;
    const { found, unused } = await inTurn({ leadership, clock }, "first start", seeding);
    // What is loaded next takes the room of what has done its work, as the reading of a config file has.
    await letGo();
    // Only now: a start that fails, and a command that opens the data directory only, load none of it.
    const { createGateway } = await import("./main/gateway.ts");
    const gateway = await createGateway({
      environment,
      control,
      directory,
      version: options.version,
      revision: options.revision,
      variables: options.variables,
      configRefused: refused !== null,
      randomToken: () => randomBytes(32).toString("base64url"),
      onSetUp: () => secrets.remove(),
      onFatal: (error) => broken.reject(error),
      certificate,
      link,
      processes,
    });
    const refreshed = () => gateway.configSnapshot.refresh();
    if (shared !== null) watch = shared.watch(gateway.observer, refreshed);
    else if (environment.configFile !== null) {
      logConfigWarnings(gateway.observer, appliedAtStart);
      if (refused !== null) gateway.observer.configReload("refused", refused);
      watch = watchConfig(environment.configFile, {
        environment,
        variables: options.variables,
        controlStore,
        observer: gateway.observer,
        clock: control.clock,
        applied: refreshed,
        state,
      });
    }
    // Several workers are replaced one by one by their supervisor.
    if (tls !== null && certificate !== null && link === null) {
      const { observer, renewCertificate: changed } = gateway;
      certificateWatch = watchCertificate(tls, { first: certificate, clock: control.clock, observer, changed });
    }
    const { announcement } = await import("./main/announcement.ts");
    const told = await announcement({
      environment,
      control,
      processes,
      gateway,
      secrets,
      found,
      unused,
      refused,
      ...options,
    });
    if (link === null) options.print(told);
    else link.ready(told);
    gateway.observer.log("info", "The gateway takes calls.", {
      version: options.version,
      revision: options.revision,
      port: gateway.server.port,
      // By which the supervisor tells of it.
      ...(link === null ? {} : { pid: process.pid }),
    });
    signals.onReload(() => {
      void watch?.trigger();
      void certificateWatch?.trigger();
    });
    if (link === null) signals.onReplace(() => gateway.observer.log("warn", noWorkers));
    let graceMs = 0;
    const hurried = link === null ? signals.hurried : AbortSignal.any([signals.hurried, link.hurried]);
    try {
      const asked = [signals.stopped, broken.promise];
      const reason = await Promise.race(link === null ? asked : [...asked, link.left.then(() => "replaced" as const)]);
      // Somebody at a terminal waits; a load balancer has to see first that this one is leaving.
      if (reason !== "SIGINT" && reason !== "replaced") graceMs = environment.drainGraceMs;
      gateway.observer.log("info", "The gateway was asked to end.", { reason, graceMs });
      const { drainTimeoutMs } = gateway.configSnapshot.current.settings;
      link?.ending(graceMs + drainTimeoutMs + bounds.lastBytesMs + bounds.flushMs);
      if (reason === "replaced") await Promise.race([gateway.leavePlace(hurried), ...asked]);
    } finally {
      if (link === null) secrets.removeOwnLink();
      const ending = new Ending({ clock: control.clock, observer: gateway.observer });
      await ending.step("watch of the config file", () => watch?.close());
      await ending.step("watch of the certificate", () => certificateWatch?.close());
      await ending.step("last numbers", async () => link?.lastReport(await gateway.lastReport()));
      await gateway.close({ graceMs, hurried });
    }
  } catch (thrown) {
    // Why it ends is told by whoever catches it; what else does not end has nobody to tell.
    const ending = new Ending({ clock: systemClock, observer: { log: () => undefined } });
    await ending.step("processes", () => processes?.close());
    await ending.step("database", () => control?.close());
    directory?.release();
    throw thrown;
  }
}

/** On a server that others can reach too: alone until it is closed, or with those who count in the same Redis. */
async function joinDatabase(
  { databaseUrl, redisUrl }: Environment,
  control: Control,
  onTaken: (error: Error) => void,
): Promise<Control> {
  if (databaseUrl === null) return control;
  const { database, instanceId: owner, instances, clock } = control;
  const options = { leases: createLeases(database), owner, clock };
  const hasOthers = async () => (await instances.list()).some(({ id, isAlive }) => isAlive && id !== owner);
  const leave =
    redisUrl === null ? await beOnlyProcess({ ...options, onTaken }) : await beOneOfSeveral({ ...options, hasOthers });
  return {
    ...control,
    async close() {
      await leave();
      await control.close();
    },
  };
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
