import { join } from "node:path";
import { answersChat } from "../answers-chat.ts";
import { startChild } from "../child.ts";
import type { Contender } from "../contender.ts";
import { until } from "../deadline.ts";
import { freePort, type Run } from "../run.ts";
import { type Peer, peersDirectory } from "./peer.ts";

const program = join(peersDirectory, "node_modules", "@portkey-ai", "gateway", "build", "start-server.js");
const startMs = 60_000;

/** Portkey's open-source gateway. It has no keys, limits or budgets: the caller sends the vendor's name and key. */
export const portkey: Peer = {
  title: "Portkey, bare",
  governs: "governs nothing: its open gateway has no keys, limits, budgets or ledger",
  install: "npm install --ignore-scripts --prefix bench/peers @portkey-ai/gateway",
  isInstalled: () => Bun.file(program).exists(),
  start: startPortkey,
};

async function startPortkey(run: Run): Promise<Contender> {
  const node = Bun.which("node");
  if (node === null) throw new Error("Portkey's gateway needs Node");
  const port = freePort();
  const log = join(run.directory, `portkey-${port}.log`);
  const child = startChild({
    command: [node, program, `--port=${port}`, "--headless"],
    cores: run.cores.contender,
    // Otherwise it refuses an upstream on this machine.
    env: { TRUSTED_CUSTOM_HOSTS: "127.0.0.1,localhost", NODE_ENV: "production" },
    log,
  });
  const headers = ["x-portkey-provider: openai", `x-portkey-custom-host: http://127.0.0.1:${run.upstreamPort}/v1`];
  await until(() => answersChat(port, "none", headers), startMs, "Portkey's first answer").catch(async (error) => {
    await child.stop(500);
    throw error;
  });
  return { name: portkey.title, port, key: "none", headers, pid: child.pid, log, stop: () => child.stop(2_000) };
}
