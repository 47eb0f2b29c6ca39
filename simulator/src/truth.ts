import { bounds } from "./bounds.ts";

/** What really happened to one attempt, as the upstream saw it. Times are Unix milliseconds. */
export interface TruthRecord {
  readonly attempt_id: string;
  /** Which hit of this attempt id this is: 1, or more when somebody sent it again. */
  readonly hits: number;
  readonly path: string;
  model: string;
  readonly received_at: number;
  /** The last four characters of the credential; never the whole. */
  readonly authorization_last4: string | null;
  readonly request_headers: Readonly<Record<string, string>>;
  body_sha256: string;
  body_bytes: number;
  stream: boolean;
  prompt_tokens: number;
  /** Told inside prompt_tokens. */
  cached_tokens: number;
  /** Output tokens whose bytes were taken by the connection, reasoning included once anything was sent. */
  output_tokens_emitted: number;
  /** SSE events taken by the connection, the terminal `[DONE]` not counted. */
  events_emitted: number;
  bytes_emitted: number;
  terminal_sent: boolean;
  usage_sent: boolean;
  /** When the caller left before the answer was over. */
  aborted_at: number | null;
  ended_at: number | null;
  /** 0 when no status line was sent. */
  status: number;
  received_body?: string;
  sent_body?: string;
}

export interface TruthFilter {
  readonly attemptId?: string | undefined;
  readonly model?: string | undefined;
  readonly limit?: number | undefined;
}

export interface TruthState {
  readonly in_flight: number;
  /** Since the start or the last clear. */
  readonly total: number;
  /** Records that had to leave memory. */
  readonly dropped: number;
  readonly data: readonly TruthRecord[];
}

/** The bounded memory of everything served. */
export interface Truth {
  begin(first: TruthOpening): TruthRecord;
  /** Called once for each record, when its answer is over. */
  end(record: TruthRecord): void;
  /** The last hit of this attempt, while it is in memory. */
  find(attemptId: string): TruthRecord | undefined;
  /** In order of arrival, the latest `limit`. */
  list(filter?: TruthFilter): TruthState;
  clear(): void;
}

export interface TruthOpening {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly receivedAt: number;
}

export function createTruth(recordsMax: number, onEnd: (record: TruthRecord) => void): Truth {
  /** A ring: `total % recordsMax` is the next place. */
  let ring: TruthRecord[] = [];
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
      const given = first.headers["x-attempt-id"];
      const hit = given === undefined ? 1 : (hits.get(given) ?? 0) + 1;
      if (given !== undefined && (hit > 1 || hits.size < bounds.truthIdsMax)) hits.set(given, hit);
      const record = opening(first, given ?? `sim-${sequence}`, hit);
      ring[total % recordsMax] = record;
      total += 1;
      return record;
    },
    end(record) {
      inFlight -= 1;
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
      hits.clear();
      total = 0;
    },
  };
}

function opening(first: TruthOpening, attemptId: string, hits: number): TruthRecord {
  const credential = first.headers["authorization"] ?? first.headers["x-api-key"] ?? first.headers["api-key"];
  return {
    attempt_id: attemptId,
    hits,
    path: first.path,
    model: "",
    received_at: first.receivedAt,
    authorization_last4: credential === undefined ? null : credential.slice(-4),
    request_headers: withoutSecrets(first.headers),
    body_sha256: "",
    body_bytes: 0,
    stream: false,
    prompt_tokens: 0,
    cached_tokens: 0,
    output_tokens_emitted: 0,
    events_emitted: 0,
    bytes_emitted: 0,
    terminal_sent: false,
    usage_sent: false,
    aborted_at: null,
    ended_at: null,
    status: 0,
  };
}

const secretHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "x-api-key",
  "api-key",
  "x-goog-api-key",
  "cookie",
]);

function withoutSecrets(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && !secretHeaders.has(name)) kept[name] = value;
  }
  return kept;
}
