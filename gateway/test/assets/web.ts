import { Failure } from "#core/index.ts";
import type { OutboundAnswer, OutboundRequest, Transport } from "#ports/index.ts";
import { SendingTransport, transportOf } from "../sending-transport.ts";

export type Page = (request: OutboundRequest, signal: AbortSignal) => Response | Promise<Response>;

/** The web for tests: pages by URL, the fake library, and nothing else. */
export class SmallWeb extends SendingTransport {
  readonly pages = new Map<string, Page>();
  readonly requests: OutboundRequest[] = [];
  /** Receives requests for other URLs. */
  elsewhere: Transport = transportOf(() =>
    Promise.reject(new Failure("upstream_unreachable", "No server listens there.")),
  );

  page(url: string, bytes: Uint8Array | Page, headers: Record<string, string> = {}): void {
    const body = bytes instanceof Uint8Array ? new Uint8Array(bytes) : null;
    this.pages.set(url, bytes instanceof Uint8Array ? () => new Response(body, { headers }) : bytes);
  }

  count(url: string): number {
    return this.requests.filter((request) => request.url === url).length;
  }

  async send(request: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer> {
    if (signal.aborted) throw new Failure("client_closed", "The caller went away.");
    this.requests.push(request);
    const page = this.pages.get(request.url) ?? this.pages.get(new URL(request.url).origin);
    if (page === undefined) return this.elsewhere.send(request, signal);
    const response = await page(request, signal);
    return { status: response.status, headers: response.headers, body: bodyOf(response) };
  }
}

/** A body that fails when its stream does, like a dropped connection. */
function bodyOf(response: Response): OutboundAnswer["body"] {
  const reader = response.body?.getReader() ?? null;
  const read = async (): Promise<Uint8Array | null> => {
    try {
      const piece = await reader?.read();
      return piece === undefined || piece.done ? null : piece.value;
    } catch (thrown) {
      throw thrown instanceof Failure ? thrown : new Failure("upstream_truncated", "It broke off.");
    }
  };
  return {
    read,
    async readAll(bytesMax) {
      const pieces: Uint8Array[] = [];
      for (let piece = await read(); piece !== null; piece = await read()) pieces.push(piece);
      const whole = Buffer.concat(pieces);
      if (whole.length > bytesMax) throw new Failure("upstream_error", "It is too large.");
      return whole;
    },
    cancel: () => void reader?.cancel().catch(() => undefined),
  };
}
