import type { LiveBody } from "#core/index.ts";

/** An answer as it is made: cheaper than the runtime's Response, which stays for whoever needs one. */
export class ServerAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | ReadableStream<Uint8Array> | LiveBody | null;

  constructor(status: number, headers: Readonly<Record<string, string>>, body: ServerAnswer["body"]) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}
