import type { EgressProxy } from "#core/index.ts";
import { type ResponseHead, ResponseReader } from "#http1/index.ts";
import type { Origin } from "./origin.ts";
import { proxyFailure, proxyRefused } from "./send-failure.ts";

export type ProxyWay = ReturnType<typeof proxyWay>;

/** How an origin is reached through a proxy: what it is asked, made once for all calls. */
export function proxyWay(proxy: EgressProxy, origin: Origin) {
  const host = origin.hostname.includes(":") ? `[${origin.hostname}]` : origin.hostname;
  const authorization = proxy.authorization === null ? "" : `proxy-authorization: ${proxy.authorization.reveal()}\r\n`;
  const place = `${host}:${origin.port}`;
  const secure = origin.scheme === "https";
  return Object.freeze({
    proxy,
    /** `CONNECT` with its fields; null: each request names the origin itself. */
    connect: secure ? `CONNECT ${place} HTTP/1.1\r\nhost: ${place}\r\n${authorization}\r\n` : null,
    /** In front of the path of each request. */
    targetPrefix: secure ? "" : `http://${origin.hostHeader}`,
    authorization: secure ? "" : authorization,
  });
}

const limits = { headBytesMax: 16 * 1024, fieldsMax: 64 };

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
    // As of a HEAD, no body follows a good answer (RFC 9110 §9.3.6), and nobody reads that of a refusal.
    this.#reader.begin("HEAD");
  }

  /** True: the way stands. Throws Failure or MalformedMessage. */
  push(bytes: Buffer): boolean {
    const taken = this.#reader.push(bytes);
    if (!this.#complete) return false;
    if (this.#status < 200 || this.#status > 299) throw proxyRefused(this.#status);
    // Nobody has asked the upstream for anything yet: what comes behind the head is the proxy's own.
    if (taken < bytes.length) throw proxyFailure("answered with more than it was asked");
    return true;
  }
}
