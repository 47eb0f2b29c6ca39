import { until } from "../../../../test/until.ts";
import { aliceKey, type Overrides, type StartedGateway, upstream } from "../../started-gateway.ts";

export { strangerKey, videoGateway } from "../video-tasks/video-gateway.ts";

export const path = "/v1/videos";

/** A request as OpenAI's clients send it, for another vendor's model. */
export const videoRequest = { model: "clip-test", prompt: "a boat on a lake", seconds: "5", size: "1280x720" };

/** A model of OpenAI and one of Kling. */
export const twoVendors: Overrides = {
  providers: (simulator) => [
    upstream("open", simulator, { kind: "openai" }),
    upstream("kling", simulator, {
      kind: "kling",
      base_url: new URL(simulator.url).origin,
      api_key: "kling-secret-example",
      settings: { access_key: "AKKLINGEXAMPLE" },
    }),
  ],
  models: [
    {
      name: "sora-2",
      type: "video",
      deployments: [{ provider: "open", upstream_model: "sora-2" }],
      price: { video: 0.1 },
    },
    {
      name: "kling",
      type: "video",
      deployments: [{ provider: "kling", upstream_model: "kling-v2-6" }],
      price: { video: 0.05 },
    },
  ],
  keys: [{ name: "alice", secret: aliceKey }],
};

export type Video = Readonly<Record<string, unknown>> & { readonly id: string; readonly status: string };

export async function createVideo(gateway: StartedGateway, body: object): Promise<Video> {
  return (await (await gateway.post(path, body)).json()) as Video;
}

/** Waits until a video has ended. */
export async function endedVideo(gateway: StartedGateway, id: string): Promise<Video> {
  return await until(async () => {
    const video = (await (await gateway.get(`${path}/${id}`)).json()) as Video;
    return video.status === "queued" || video.status === "in_progress" ? null : video;
  });
}

export function call(gateway: StartedGateway, method: string, at: string, key = aliceKey): Promise<Response> {
  return fetch(`${gateway.url}${at}`, { method, headers: { authorization: `Bearer ${key}` } });
}

export interface SentForm {
  readonly [name: string]: string | File;
}

export function sendForm(
  gateway: StartedGateway,
  fields: SentForm,
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  return fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${aliceKey}`, ...headers },
    body,
  });
}
