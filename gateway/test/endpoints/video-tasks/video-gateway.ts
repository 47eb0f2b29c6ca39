import { until } from "../../../../test/until.ts";
import { aliceKey, type Overrides, type StartedGateway, upstream } from "../../started-gateway.ts";

export const strangerKey = "sk-stranger-0123456789abcdefg";

/** The provider `volc`: an Ark account with its asset library. */
export const arkAccount = (simulator: Parameters<typeof upstream>[1]) =>
  upstream("volc", simulator, {
    kind: "ark",
    settings: {
      access_key_id: "AKTESTEXAMPLE",
      secret_access_key: "SecretKeyExample==",
      openapi_url: new URL("/", simulator.url).href,
    },
  });

/** A video model and an image model at an Ark account with an asset library. */
export const videoGateway: Overrides = {
  providers: (simulator) => [arkAccount(simulator)],
  models: [
    {
      name: "clip-test",
      type: "video",
      deployments: [{ provider: "volc", upstream_model: "doubao-seedance-2-0-260128" }],
      price: { output: 6 },
    },
    {
      name: "paint-test",
      type: "image",
      deployments: [{ provider: "volc", upstream_model: "doubao-seedream-4-5" }],
      price: { image: 0.04 },
    },
  ],
  keys: [{ name: "alice", secret: aliceKey }],
};

export const taskRequest = {
  model: "clip-test",
  prompt: "a boat on a lake",
  ratio: "16:9",
  duration: 5,
  resolution: "720p",
  audio: false,
  watermark: false,
  seed: -1,
};

/** Waits until a task (or an asset) has ended, and returns it as its owner reads it. */
export async function settledTask(
  gateway: StartedGateway,
  id: string,
  path = `/v1/video/tasks/${id}`,
): Promise<Readonly<Record<string, unknown>>> {
  return await until(async () => {
    const task = (await (await gateway.get(path)).json()) as Readonly<Record<string, unknown>>;
    return ["queued", "running", "Processing"].includes(String(task["status"])) ? null : task;
  });
}
