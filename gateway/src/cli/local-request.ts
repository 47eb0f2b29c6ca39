import { request as byHttp } from "node:http";
import { request as byHttps } from "node:https";
import type { Environment } from "#config/index.ts";

interface LocalRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly answerMs: number;
  readonly charactersMax: number;
}

/**
 * Sends a request to a gateway on this machine. The runtime's fetch would use the proxy of the environment, which cannot reach it. The
 * certificate is not checked, because it is for other names than the loopback. Rejects on timeout.
 */
export function requestLocal(
  url: string,
  { method = "GET", headers = {}, body, answerMs, charactersMax }: LocalRequest,
): Promise<{ readonly status: number; readonly text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const signal = AbortSignal.timeout(answerMs);
  const send = url.startsWith("https:") ? byHttps : byHttp;
  const asked = send(url, { method, headers, signal, rejectUnauthorized: false }, (answer) => {
    let text = "";
    answer.setEncoding("utf8");
    answer.on("data", (piece: string) => {
      text = (text + piece).slice(0, charactersMax);
    });
    answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
    answer.on("error", reject);
  });
  signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  asked.on("error", reject);
  asked.end(body);
  return promise;
}

/** The address of a local gateway that listens on `host`. */
export function localAddress({ tls }: Pick<Environment, "tls">, host: string, port: number): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  const authority = reachable.includes(":") && !reachable.startsWith("[") ? `[${reachable}]` : reachable;
  return `${tls === null ? "http" : "https"}://${authority}:${port}`;
}
