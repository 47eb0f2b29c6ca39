import { randomBytes } from "node:crypto";
import type { ConfigWatch, Environment, Variables } from "#config/index.ts";
import { isLoopbackHost } from "#config/index.ts";
import { systemClock } from "#system/index.ts";
import { banner } from "./main/banner.ts";
import { applyConfigFile, watchConfig } from "./main/config-source.ts";
import { openControl } from "./main/control.ts";
import { firstStart } from "./main/first-start.ts";
import { openHouse } from "./main/house.ts";
import { listenForSignals, type StopSignals } from "./main/stop-signals.ts";

export { applyConfigFile } from "./main/config-source.ts";
export { type Control, openControl } from "./main/control.ts";
export { kindCheck } from "./main/kind-check.ts";
export { webhookSecretOf } from "./main/webhook-secret.ts";

export interface ServeOptions {
  readonly variables: Variables;
  readonly version: string;
  /** Shows the banner to a person. */
  readonly print: (text: string) => void;
}

/** A reason not to start that the operator can mend; shown as one line. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";
}

/** Runs the gateway until it is told to end. Resolves when everything is flushed and closed. */
export async function serve(environment: Environment, options: ServeOptions): Promise<void> {
  const signals = listenForSignals(systemClock);
  try {
    await serveUntil(signals, environment, options);
  } finally {
    signals.release();
  }
}

async function serveUntil(signals: StopSignals, environment: Environment, options: ServeOptions): Promise<void> {
  const control = await openControl(environment);
  let watch: ConfigWatch | null = null;
  try {
    const governed = environment.administrator !== null || (await control.people.administratorExists());
    if (!isLoopbackHost(environment.host) && !governed) {
      throw new CannotStart(
        `SLUICE_HOST is ${environment.host}, which others can reach, but there is no administrator yet. ` +
          "Start on 127.0.0.1 and use the set-up link, or set SLUICE_ADMIN_EMAIL and SLUICE_ADMIN_PASSWORD.",
      );
    }
    if (environment.configFile !== null) {
      await applyConfigFile(environment.configFile, options.variables, control.controlStore);
    }
    const first = await firstStart(environment, control.controlStore, randomBytes);
    const broken = Promise.withResolvers<never>();
    const house = await openHouse({
      environment,
      control,
      version: options.version,
      randomToken: () => randomBytes(32).toString("base64url"),
      onFatal: (error) => broken.reject(error),
    });
    if (environment.configFile !== null) {
      watch = watchConfig(environment.configFile, {
        environment,
        variables: options.variables,
        controlStore: control.controlStore,
        observer: house.observer,
        clock: control.clock,
        applied: () => house.catalog.refresh(),
      });
    }
    const shown = environment.host === "127.0.0.1" || environment.host === "::1" ? "localhost" : environment.host;
    options.print(
      banner({
        url: environment.publicUrl ?? `http://${shown}:${house.server.port}`,
        version: options.version,
        setupToken: house.setup.token(),
        keySecret: first.keySecret,
        found: first.found,
        catalog: house.catalog.current,
        dataDir: environment.dataDir,
        configFile: environment.configFile,
        recovered: house.recovered,
      }),
    );
    signals.onReload(() => void watch?.trigger());
    let graceMs = 0;
    try {
      const reason = await Promise.race([signals.stopped, broken.promise]);
      // Somebody at a terminal waits; a load balancer has to see first that this one is leaving.
      if (reason !== "SIGINT") graceMs = environment.drainGraceMs;
      house.observer.log("info", "The gateway was asked to end.", { reason, graceMs });
    } finally {
      await watch?.close();
      await house.close({ graceMs, hurried: signals.hurried });
    }
  } catch (thrown) {
    await control.close();
    throw thrown;
  }
}
