import { join } from "node:path";
import { answersChat } from "../answers-chat.ts";
import { startChild } from "../child.ts";
import type { Contender } from "../contender.ts";
import { until } from "../deadline.ts";
import { freePort, type Run } from "../run.ts";

/** What the runtime itself costs: its server and its fetch, and nothing in between. */
export async function startBareBun(run: Run): Promise<Contender> {
  const port = freePort();
  const log = join(run.directory, `bare-bun-${port}.log`);
  const child = startChild({
    command: run.programs("bare-proxy", { port, upstreamPort: run.upstreamPort }),
    cores: run.cores.contender,
    log,
  });
  await until(() => answersChat(port, "none"), 10_000, "the bare proxy's first answer");
  return { name: "Bun, bare", port, key: "none", pid: child.pid, log, stop: () => child.stop(500) };
}
