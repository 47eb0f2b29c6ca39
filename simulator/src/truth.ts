import { bounds } from "./bounds.ts";
import type { UploadPart } from "./request.ts";

/** The true history of one attempt, as the upstream saw it. Times are in Unix milliseconds. */
export interface TruthRecord {
  readonly attempt_id: string;
  /** The number of this hit among those with the same attempt id: more than 1 if the request was repeated. */
  readonly hits: number;
  readonly dialect: string;
  readonly method: string;
  readonly path: string;
  /** As it was sent, but without credentials. */
  readonly query: string;
  model: string;
  readonly received_at: number;
  /** The last four characters of the credential, never all of it. */
  readonly authorization_last4: string | null;
  /** `X-Client-Request-Id`, if it was sent. */
  readonly client_request_id?: string;
  readonly request_headers: Readonly<Record<string, string>>;
  body_sha256: string;
  body_bytes: number;
  /** The parts of a multipart body, in order. */
  parts?: readonly UploadPart[];
  /** Whether the caller's AWS signature is valid; absent if no secret is configured. */
  signature_verified?: boolean;
  stream: boolean;
  /** All of the prompt, cached and cache-written tokens included. */
  prompt_tokens: number;
  /** Included in prompt_tokens. */
  cached_tokens: number;
  /** Included in prompt_tokens, for both lifetimes. */
  cache_write_tokens: number;
  reasoning_tokens: number;
  /** Output tokens whose bytes the connection accepted; reasoning is included once anything was sent. */
  output_tokens_emitted: number;
  /** Events that the connection accepted, without the terminal one. */
  events_emitted: number;
  bytes_emitted: number;
  terminal_sent: boolean;
  usage_sent: boolean;
  /** When the caller disconnected before the answer was complete. */
  aborted_at: number | null;
  ended_at: number | null;
  /** 0 if no status line was sent. */
  status: number;
  /** The first 64 KB of the body as text; absent for multipart and for credentials. */
  body_text?: string;
  /** The digest of all body bytes sent, without framing. Set once the answer is complete, as is `reply_text`. */
  reply_sha256: string;
  /** The first 64 KB; in binary streams one character is one byte. */
  reply_text?: string;
  /** The whole bodies, if a script asks for them. */
  received_body?: string;
  sent_body?: string;
}

interface TruthFilter {
  readonly attemptId?: string | undefined;
  readonly model?: string | undefined;
  readonly limit?: number | undefined;
}

export interface TruthState {
  readonly in_flight: number;
  /** Since the start or the last clear. */
  readonly total: number;
  /** Records that were removed from memory. */
  readonly dropped: number;
  readonly data: readonly TruthRecord[];
}

/** A bounded store of everything served. */
export interface Truth {
  begin(first: TruthOpening): TruthRecord;
  /** Must be called once for each record, when its answer is complete. */
  end(record: TruthRecord): void;
  /** The last hit of this attempt, if it is still in memory. */
  find(attemptId: string): TruthRecord | undefined;
  /** The latest `limit` records, in order of arrival. */
  list(filter?: TruthFilter): TruthState;
  clear(): void;
}

interface TruthOpening {
  readonly dialect: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly receivedAt: number;
}

export function createTruth(recordsMax: number, onEnd: (record: TruthRecord) => void): Truth {
  /** A ring: `total % recordsMax` is the next index. */
  let ring: TruthRecord[] = [];
  const texts = createTextBudget(recordsMax);
  const hits = new Map<string, number>();
  let sequence = 0;
  let inFlight = 0;
  let total = 0;

  /** In order of arrival. */
  function all(): readonly TruthRecord[] {
    const oldest = ring.length < recordsMax ? 0 : total % recordsMax;
    return [...ring.slice(oldest), ...ring.slice(0, oldest)];
  }

  return {
    begin(first) {
      sequence += 1;
      inFlight += 1;
      const attemptId = first.headers["x-attempt-id"];
      const hit = attemptId === undefined ? 1 : (hits.get(attemptId) ?? 0) + 1;
      if (attemptId !== undefined && (hit > 1 || hits.size < bounds.truthIdsMax)) hits.set(attemptId, hit);
      const record = opening(first, attemptId ?? `sim-${sequence}`, hit);
      ring[total % recordsMax] = record;
      total += 1;
      return record;
    },
    end(record) {
      inFlight -= 1;
      texts.spend(record);
      onEnd(record);
    },
    find: (attemptId) => all().findLast((record) => record.attempt_id === attemptId),
    list(filter = {}) {
      const limit = Math.min(filter.limit ?? bounds.truthListMax, bounds.truthListMax);
      const data = all().filter(
        (record) =>
          (filter.attemptId === undefined || record.attempt_id === filter.attemptId) &&
          (filter.model === undefined || record.model === filter.model),
      );
      return { in_flight: inFlight, total, dropped: total - ring.length, data: limit === 0 ? [] : data.slice(-limit) };
    },
    clear() {
      ring = [];
      texts.clear();
      hits.clear();
      total = 0;
    },
  };
}

/** Removes the texts of bodies from the oldest records once they exceed a total size. */
function createTextBudget(recordsMax: number): { spend(record: TruthRecord): void; clear(): void } {
  let queue: TruthRecord[] = [];
  let bytes = 0;
  const sizeOf = (record: TruthRecord): number => (record.body_text?.length ?? 0) + (record.reply_text?.length ?? 0);
  return {
    spend(record) {
      queue.push(record);
      bytes += sizeOf(record);
      while (bytes > bounds.truthTextsBytesMax || queue.length > recordsMax) {
        const oldest = queue.shift();
        if (oldest === undefined) return;
        bytes -= sizeOf(oldest);
        delete oldest.body_text;
        delete oldest.reply_text;
      }
    },
    clear() {
      queue = [];
      bytes = 0;
    },
  };
}

function opening(first: TruthOpening, attemptId: string, hits: number): TruthRecord {
  const clientId = first.headers["x-client-request-id"];
  return {
    attempt_id: attemptId,
    hits,
    dialect: first.dialect,
    method: first.method,
    path: first.path,
    query: first.query.replace(secretQuery, "$1redacted"),
    model: "",
    received_at: first.receivedAt,
    authorization_last4: credentialOf(first)?.slice(-4) ?? null,
    ...(clientId === undefined ? {} : { client_request_id: clientId }),
    request_headers: withoutSecrets(first.headers),
    body_sha256: "",
    body_bytes: 0,
    stream: false,
    prompt_tokens: 0,
    cached_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    output_tokens_emitted: 0,
    events_emitted: 0,
    bytes_emitted: 0,
    terminal_sent: false,
    usage_sent: false,
    aborted_at: null,
    ended_at: null,
    status: 0,
    reply_sha256: "",
  };
}

function credentialOf(first: TruthOpening): string | null {
  const { headers } = first;
  const header = headers["authorization"] ?? headers["x-api-key"] ?? headers["api-key"] ?? headers["x-goog-api-key"];
  return header ?? new URLSearchParams(first.query).get("key");
}

const secretQuery = /((?:^|&)(?:key|access_token|api_key)=)[^&]*/g;

const secretHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "x-api-key",
  "api-key",
  "x-goog-api-key",
  "x-amz-security-token",
  "proxy-authorization",
  "cookie",
]);

function withoutSecrets(headers: Readonly<Record<string, string>>): Record<string, string> {
  const remaining: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && !secretHeaders.has(name)) remaining[name] = value;
  }
  return remaining;
}
