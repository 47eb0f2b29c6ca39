/**
 * main: builds the gateway from its modules, runs it, and stops it in order. It is the only place that connects modules to
 * the implementations of their ports. `serve` runs the gateway; `openControl` opens only the database and the vault, for
 * single commands.
 *
 * When the gateway cannot start, it says why in one line and exits.
 */
import { randomBytes } from "node:crypto";
import type { ConfigWatch, Environment, Variables } from "#config/index.ts";
import { isLoopbackHost } from "#config/index.ts";
import {
  dataPaths,
  FirstSecrets,
  openJournalDirectory,
  prepareDataDirectory,
  refuseLostDatabase,
} from "#storage/index.ts";
import { systemClock } from "#system/index.ts";
import { CannotStart } from "./main/cannot-start.ts";
import { applyConfigFile, watchConfig } from "./main/config-source.ts";
import { type Control, openControl } from "./main/control.ts";
import { starterProviders } from "./main/first-start.ts";
import { listenForSignals, type StopSignals } from "./main/stop-signals.ts";

export { type Control, openControl, placeOf } from "./main/control.ts";
export { kindCheck } from "./main/kind-check.ts";
export { webhookSecretOf } from "./main/webhook-secret.ts";

export interface ServeOptions {
  readonly variables: Variables;
  readonly version: string;
  /** Shows the banner. */
  readonly print: (text: string) => void;
  /** A person reads what is printed, and nobody collects it. */
  readonly interactive: boolean;
}

/** Runs the gateway until it is told to end. Resolves when everything is flushed and closed. */
export async function serve(environment: Environment, options: ServeOptions): Promise<void> {
  await serveUntil(listenForSignals(systemClock), environment, options);
}

async function serveUntil(signals: StopSignals, environment: Environment, options: ServeOptions): Promise<void> {
  const paths = dataPaths(environment.dataDir);
  prepareDataDirectory(paths.dataDir);
  if (environment.databaseUrl === null) refuseLostDatabase(paths);
  // Held from here on: a second gateway changes nothing, neither the schema nor what a config file says.
  const directory = openJournalDirectory(paths.journal);
  let control: Control | null = null;
  let watch: ConfigWatch | null = null;
  try {
    control = await openControl(environment, { held: true });
    const { controlStore } = control;
    const governed = environment.administrator !== null || (await control.people.administratorExists());
    if (!governed) refuseOpenHosts(environment);
    if (environment.configFile !== null) {
      await applyConfigFile(environment.configFile, options.variables, controlStore);
    }
    // Those of an earlier run: the link was for that one alone, and the key's holder has the console.
    const secrets = new FirstSecrets(environment.dataDir);
    if (governed) secrets.remove();
    else secrets.removeLink();
    const { found, unused } = await starterProviders(environment, controlStore);
    const broken = Promise.withResolvers<never>();
    // Only now: a start that fails, and a command that opens the data directory only, load none of it.
    const { createGateway } = await import("./main/gateway.ts");
    const gateway = await createGateway({
      environment,
      control,
      directory,
      version: options.version,
      randomToken: () => randomBytes(32).toString("base64url"),
      onSetUp: () => secrets.remove(),
      onFatal: (error) => broken.reject(error),
    });
    if (environment.configFile !== null) {
      watch = watchConfig(environment.configFile, {
        environment,
        variables: options.variables,
        controlStore,
        observer: gateway.observer,
        clock: control.clock,
        applied: () => gateway.catalog.refresh(),
      });
    }
    const { announcement } = await import("./main/announcement.ts");
    const told = await announcement({ environment, control, gateway, secrets, found, unused, ...options });
    options.print(told);
    gateway.observer.log("info", "The gateway takes calls.", { version: options.version, port: gateway.server.port });
    signals.onReload(() => void watch?.trigger());
    let graceMs = 0;
    try {
      const reason = await Promise.race([signals.stopped, broken.promise]);
      // Somebody at a terminal waits; a load balancer has to see first that this one is leaving.
      if (reason !== "SIGINT") graceMs = environment.drainGraceMs;
      gateway.observer.log("info", "The gateway was asked to end.", { reason, graceMs });
    } finally {
      secrets.removeLink();
      await watch?.close();
      await gateway.close({ graceMs, hurried: signals.hurried });
    }
  } catch (thrown) {
    await control?.close();
    directory.release();
    throw thrown;
  }
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
