import type { EgressProxy } from "#core/index.ts";
import { type ResponseHead, ResponseReader } from "#http1/index.ts";
import type { Origin } from "./origin.ts";
import { proxyFailure, proxyRefused } from "./send-failure.ts";

export type ProxyWay = ReturnType<typeof proxyWay>;

/** The requests to a proxy for an origin, made once for all calls. */
export function proxyWay(proxy: EgressProxy, origin: Origin) {
  const host = origin.hostname.includes(":") ? `[${origin.hostname}]` : origin.hostname;
  const authorization = proxy.authorization === null ? "" : `\r\nproxy-authorization: ${proxy.authorization.reveal()}`;
  const authority = `${host}:${origin.port}`;
  const secure = origin.scheme === "https";
  return Object.freeze({
    proxy,
    /** The `CONNECT` request; null: each request has the whole URL as its target. */
    connect: secure ? `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}${authorization}\r\n\r\n` : null,
    /** Goes before the path of each request. */
    targetPrefix: secure ? "" : `http://${origin.hostHeader}`,
    authorization: secure ? "" : authorization,
  });
}

const limits = { headBytesMax: 16 * 1024, fieldsMax: 64 };

/** Reads a proxy's answer to `CONNECT`. */
export class ConnectAnswer {
  readonly #reader: ResponseReader;
  #status = 0;
  #complete = false;

  constructor() {
    this.#reader = new ResponseReader(limits, {
      onHead: (head: ResponseHead) => {
        this.#status = head.status;
      },
      onBody: () => undefined,
      onEnd: () => {
        this.#complete = true;
      },
    });
    // As with HEAD, a good answer has no body (RFC 9110 §9.3.6), and the body of a refusal is not read.
    this.#reader.begin("HEAD");
  }

  /** Returns true when the tunnel is open. Throws Failure or MalformedMessage. */
  push(bytes: Buffer): boolean {
    const taken = this.#reader.push(bytes);
    if (!this.#complete) return false;
    if (this.#status < 200 || this.#status > 299) throw proxyRefused(this.#status);
    // Nothing was sent to the upstream yet, so these bytes are the proxy's own.
    if (taken < bytes.length) throw proxyFailure("sent data after its answer to CONNECT");
    return true;
  }
}
