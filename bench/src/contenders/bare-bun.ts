import { join } from "node:path";
import { answersChat } from "../answers-chat.ts";
import { startChild } from "../child.ts";
import type { Contender } from "../contender.ts";
import { until } from "../deadline.ts";
import { freePort, type Run } from "../run.ts";

/** Baseline of the runtime: its server and its fetch, without anything in between. */
export function startBareBun(run: Run): Promise<Contender<"Bun, bare">> {
  return startProgram(run, "Bun, bare", "bare-proxy");
}

/** Minimum cost of a proxy on this runtime: plain sockets on both sides. */
export function startSocketFloor(run: Run): Promise<Contender<"Bun sockets, bare">> {
  return startProgram(run, "Bun sockets, bare", "socket-floor");
}

async function startProgram<Name extends string>(
  run: Run,
  name: Name,
  program: "bare-proxy" | "socket-floor",
): Promise<Contender<Name>> {
  const port = freePort();
  const log = join(run.directory, `${program}-${port}.log`);
  const child = startChild({
    command: run.programs(program, { port, upstreamPort: run.upstreamPort }),
    cores: run.cores.contender,
    log,
  });
  await until(() => answersChat(port, "none"), 10_000, `the first answer of ${name}`);
  return { name, port, key: "none", pid: child.pid, log, stop: () => child.stop(500) };
}
