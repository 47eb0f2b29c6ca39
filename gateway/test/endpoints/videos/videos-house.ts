import { until } from "../../../../test/until.ts";
import { aliceKey, type Overrides, type StartedHouse, upstream } from "../../started-house.ts";

export { strangerKey, videoHouse } from "../video-tasks/video-house.ts";

export const path = "/v1/videos";

/** As OpenAI's clients ask, of a model of another vendor's. */
export const ask = { model: "clip-test", prompt: "a boat on a lake", seconds: "5", size: "1280x720" };

/** A model of OpenAI's, and the same of Kling's. */
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

export async function made(house: StartedHouse, body: object): Promise<Video> {
  return (await (await house.post(path, body)).json()) as Video;
}

/** A video once it has ended. */
export async function endedVideo(house: StartedHouse, id: string): Promise<Video> {
  return await until(async () => {
    const seen = (await (await house.get(`${path}/${id}`)).json()) as Video;
    return seen.status === "queued" || seen.status === "in_progress" ? null : seen;
  });
}

export function call(house: StartedHouse, method: string, at: string, key = aliceKey): Promise<Response> {
  return fetch(`${house.url}${at}`, { method, headers: { authorization: `Bearer ${key}` } });
}

export interface SentForm {
  readonly [name: string]: string | File;
}

export function form(house: StartedHouse, fields: SentForm, headers: Record<string, string> = {}): Promise<Response> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  return fetch(`${house.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${aliceKey}`, ...headers },
    body,
  });
}
