import type { Command } from "commander";
import { hostName, portNumber } from "../option-readers.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

interface SimulateOptions {
  readonly host: string;
  readonly port: number;
  readonly truth?: string;
}

export function addSimulate(program: Command, terminal: Terminal): void {
  program
    .command("simulate")
    .description("run a pretended provider over HTTP, for tests and trials")
    .option("--host <address>", "where to listen", hostName, "127.0.0.1")
    .option("--port <number>", "0 takes any free one", portNumber, 0)
    .option("--truth <file>", "write what was served to this file, one JSON line each")
    .action(async (options: SimulateOptions, command: Command) => {
      const { serveSimulator } = await import("@sluice/simulator");
      const stopped = Promise.withResolvers<void>();
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopped.resolve());
      const running = serveSimulator({
        hostname: options.host,
        port: options.port,
        ...(options.truth === undefined ? {} : { truthFile: options.truth }),
      });
      try {
        await report(terminal, command, { url: running.url, port: running.port }, [
          `The simulator answers on ${running.url} (any key, any model). Stop it with Ctrl-C.`,
        ]);
        await stopped.promise;
      } finally {
        running.stop();
      }
    });
}
