import type { ConfigFile } from "@sluice/contract";
import { until } from "../until.ts";
import { keys } from "./test-config.ts";

/** A gateway for videos: one model at an Ark account with an asset library. */
export function videoSetupConfig(simulatorUrl: string): ConfigFile {
  return {
    providers: [
      {
        id: "volc",
        kind: "ark",
        base_url: simulatorUrl,
        api_key: "sk-upstream-of-volc",
        allow_private_network: true,
        settings: {
          access_key_id: "AKTESTEXAMPLE",
          secret_access_key: "SecretKeyExample==",
          openapi_url: new URL("/", simulatorUrl).href,
        },
      },
    ],
    models: [
      {
        name: "clip",
        type: "video",
        deployments: [{ provider: "volc", upstream_model: "doubao-seedance-2-0-260128" }],
        price: { output: 6 },
      },
    ],
    workspaces: [{ slug: "acme", keys: [{ name: "main", secret: keys.main }] }],
  };
}

export type Json = Readonly<Record<string, unknown>>;

/** An answer with its parsed JSON body. */
export interface JsonAnswer {
  readonly status: number;
  readonly body: Json;
}

/** Plain calls with `fetch`, as in a guide. */
export class VideoClient {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return fetch(this.#address(path), { headers: { ...bearer, ...headers } });
  }

  async getJson(path: string): Promise<JsonAnswer> {
    return jsonAnswer(await this.get(path));
  }

  async post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<JsonAnswer> {
    return jsonAnswer(
      await fetch(this.#address(path), {
        method: "POST",
        headers: { ...bearer, "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
    );
  }

  async remove(path: string): Promise<JsonAnswer> {
    return jsonAnswer(await fetch(this.#address(path), { method: "DELETE", headers: bearer }));
  }

  /** Polls until `status` is none of these values. */
  pollWhile(path: string, ...statuses: readonly string[]): Promise<Json> {
    return until(async () => {
      const { body } = await this.getJson(path);
      return statuses.includes(String(body["status"])) ? null : body;
    });
  }

  #address(path: string): string {
    return path.startsWith("http") ? path : `${this.#url}${path}`;
  }
}

const bearer = { authorization: `Bearer ${keys.main}` };

async function jsonAnswer(answer: Response): Promise<JsonAnswer> {
  return { status: answer.status, body: (await answer.json()) as Json };
}
