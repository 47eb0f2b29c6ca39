import type { ConfigFile } from "@sluice/contract";
import { until } from "../until.ts";
import { keys } from "./test-config.ts";

/** A gateway for videos: a model behind an account of Ark, with its asset library. */
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

/** What came back, with its body read as JSON. */
export interface Told {
  readonly status: number;
  readonly body: Json;
}

/** Plain calls with the platform's fetch, as a guide would show them. */
export class VideoClient {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return fetch(this.#address(path), { headers: { ...bearer, ...headers } });
  }

  async tell(path: string): Promise<Told> {
    return told(await this.get(path));
  }

  async post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Told> {
    return told(
      await fetch(this.#address(path), {
        method: "POST",
        headers: { ...bearer, "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
    );
  }

  async remove(path: string): Promise<Told> {
    return told(await fetch(this.#address(path), { method: "DELETE", headers: bearer }));
  }

  /** Asks until `status` is none of these any more. */
  polled(path: string, ...passing: readonly string[]): Promise<Json> {
    return until(async () => {
      const { body } = await this.tell(path);
      return passing.includes(String(body["status"])) ? null : body;
    });
  }

  #address(path: string): string {
    return path.startsWith("http") ? path : `${this.#url}${path}`;
  }
}

const bearer = { authorization: `Bearer ${keys.main}` };

async function told(answer: Response): Promise<Told> {
  return { status: answer.status, body: (await answer.json()) as Json };
}
