import type { Environment } from "#config/index.ts";

/** Where this machine asks a gateway that listens at `host`. */
export function ownAddress({ tls }: Pick<Environment, "tls">, host: string, port: number): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  const authority = reachable.includes(":") && !reachable.startsWith("[") ? `[${reachable}]` : reachable;
  return `${tls === null ? "http" : "https"}://${authority}:${port}`;
}
