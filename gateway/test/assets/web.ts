import { Failure } from "#core/index.ts";
import type { OutboundAnswer, OutboundRequest, Transport } from "#ports/index.ts";

export type Page = (request: OutboundRequest, signal: AbortSignal) => Response | Promise<Response>;

/** The web, as far as a test needs it: pages by their address, the pretended library, and no one else. */
export class SmallWeb implements Transport {
  readonly pages = new Map<string, Page>();
  readonly asked: OutboundRequest[] = [];
  /** Asked for what no page stands for. */
  elsewhere: Transport = { send: () => Promise.reject(new Failure("upstream_unreachable", "Nobody is there.")) };

  page(url: string, bytes: Uint8Array | Page, headers: Record<string, string> = {}): void {
    const body = bytes instanceof Uint8Array ? new Uint8Array(bytes) : null;
    this.pages.set(url, bytes instanceof Uint8Array ? () => new Response(body, { headers }) : bytes);
  }

  count(url: string): number {
    return this.asked.filter((request) => request.url === url).length;
  }

  async send(request: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer> {
    if (signal.aborted) throw new Failure("client_closed", "The caller went away.");
    this.asked.push(request);
    const page = this.pages.get(request.url) ?? this.pages.get(new URL(request.url).origin);
    if (page === undefined) return this.elsewhere.send(request, signal);
    const response = await page(request, signal);
    return { status: response.status, headers: response.headers, body: bodyOf(response) };
  }
}

/** A body whose stream errors broke off, as a cut connection does. */
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
