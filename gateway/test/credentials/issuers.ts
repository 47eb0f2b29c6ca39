import type { Provider } from "#core/index.ts";
import { type CredentialContext, credentialContext } from "#credentials/index.ts";
import type { Clock, OutboundRequest, Workload } from "#ports/index.ts";
import { networkOf } from "#providers/index.ts";
import { transportOf } from "../sending-transport.ts";

/** An issuer's server as a function, so that it can also be served on a port. */
export type Issuer = (request: Request) => Response | Promise<Response>;

/** A context that sends its requests to these issuers, by host, and records them. */
export function contextOf(
  issuers: Readonly<Record<string, Issuer>>,
  workload: Workload,
  clock: Clock,
  provider: Provider | null = null,
): CredentialContext & { readonly sent: OutboundRequest[] } {
  const sent: OutboundRequest[] = [];
  const transport = transportOf(async (request) => {
    sent.push(request);
    const { host } = new URL(request.url);
    const issuer = issuers[host];
    if (issuer === undefined) throw new Error(`no server at ${host}`);
    const { method, url, headers } = request;
    const answer = await issuer(
      new Request(url, { method, headers, body: request.body as Uint8Array<ArrayBuffer> | null }),
    );
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const body = { read: async () => null, readAll: async () => bytes, cancel: () => {} };
    return { status: answer.status, headers: answer.headers, body };
  });
  const context = credentialContext({
    transport,
    clock,
    workload,
    network: provider === null ? undefined : networkOf(provider),
    signal: new AbortController().signal,
  });
  return { ...context, sent };
}
