import { join } from "node:path";
import { answersChat } from "../answers-chat.ts";
import { benchModel } from "../call-request.ts";
import { startChild } from "../child.ts";
import type { Contender } from "../contender.ts";
import { until } from "../deadline.ts";
import { freePort, type Run } from "../run.ts";
import { type Peer, peersDirectory } from "./peer.ts";

const masterKey = "sk-bench-0123456789abcdef";
const startMs = 180_000;

/** LiteLLM's proxy with one worker. Virtual keys, budgets and spend tracking need its database; without one it checks its master key. */
export const litellm: Peer = {
  title: "LiteLLM, one key",
  governs: "one master key is checked; keys of callers, limits, budgets and spend would need its database",
  install: "python3 -m venv bench/peers/litellm && bench/peers/litellm/bin/pip install 'litellm[proxy]'",
  isInstalled: async () => program() !== null,
  start: startLitellm,
};

function program(): string | null {
  return Bun.which("litellm", { PATH: join(peersDirectory, "litellm", "bin") }) ?? Bun.which("litellm");
}

async function startLitellm(run: Run): Promise<Contender> {
  const port = freePort();
  const config = join(run.directory, `litellm-${port}.json`);
  const log = join(run.directory, `litellm-${port}.log`);
  await Bun.write(config, JSON.stringify(configOf(run.upstreamPort)));
  const child = startChild({
    command: [program() ?? "litellm", "--config", config, "--host", "127.0.0.1", "--port", String(port)],
    cores: run.cores.contender,
    env: {
      LITELLM_MASTER_KEY: masterKey,
      LITELLM_LOG: "ERROR",
      LITELLM_LOCAL_MODEL_COST_MAP: "True",
      LITELLM_TELEMETRY: "False",
      HOME: run.directory,
    },
    log,
  });
  await until(() => answersChat(port, masterKey), startMs, "LiteLLM's first answer", 250).catch(async (error) => {
    await child.stop(500);
    throw error;
  });
  return { name: litellm.title, port, key: masterKey, pid: child.pid, log, stop: () => child.stop(5_000) };
}

// JSON is valid YAML.
function configOf(upstreamPort: number): unknown {
  const parameters = {
    model: "openai/upstream-model-name",
    api_base: `http://127.0.0.1:${upstreamPort}/v1`,
    api_key: "sk-upstream",
  };
  return {
    model_list: [{ model_name: benchModel, litellm_params: parameters }],
    litellm_settings: { telemetry: false, set_verbose: false },
    general_settings: { master_key: masterKey },
  };
}
