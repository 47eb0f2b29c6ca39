import type { Environment } from "#config/index.ts";
import { FirstSecrets } from "#storage/index.ts";
import { systemClock } from "#system/index.ts";
import { createLogWriter, createMetrics, createObserver } from "#telemetry/index.ts";
import { Supervisor, workerSpawner } from "#workers/index.ts";
import { CannotStart } from "./cannot-start.ts";
import { startCertificate, watchCertificate } from "./certificate.ts";
import type { ServeOptions } from "./serve.ts";
import { foldReports } from "./worker-numbers.ts";

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
