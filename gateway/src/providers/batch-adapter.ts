import type { EndpointId, Provider } from "#core/index.ts";
import type { OutboundDraft } from "./outbound-draft.ts";

/** The body of a request that creates a batch or uploads its rows: `head`, then the rows, then `tail`. */
export interface BatchFrame {
  readonly head: string;
  readonly tail: string;
}

/**
 * open     it is in progress, or its state is unknown
 * ended    its results can be read, in `outputs`: paths below the account's root
 * refused  the vendor ran none of its rows
 * lost     the vendor ran some of its rows, and has no results
 */
interface BatchReport {
  readonly state: "open" | "ended" | "refused" | "lost";
  readonly outputs: readonly string[];
  /** Why it was refused or lost. */
  readonly message: string | null;
}

/** A row of a result. `body`: of the answer, as text; null: the row was not executed, for the reason in `end`. */
export interface BatchLine {
  readonly customId: string;
  readonly status: number;
  readonly body: string | null;
  readonly end: "answered" | "canceled" | "expired";
}

/** A batch in a vendor's list. */
export interface ListedBatch {
  readonly upstreamId: string;
  /** Our id, "" if it has none; null: the vendor does not store it. */
  readonly ourId: string | null;
  readonly createdAt: number;
  readonly total: number;
}

/** An account, with its normalized base URL. */
export interface BatchAccount {
  readonly provider: Provider;
  readonly root: string;
}

/** A vendor's batches, as pure functions. Drafts are authorized and sent by the provider client. */
export interface BatchAdapter {
  readonly endpoints: ReadonlySet<EndpointId>;
  readonly rowsMax: number;
  readonly bytesMax: number;
  /** Between two rows. */
  readonly separator: string;
  row(customId: string, path: string, body: string): string;
  /** Uploads the rows before the batch is created. Absent: the creation has them. */
  readonly upload?: {
    readonly frame: BatchFrame;
    /** `size`: of the rows with their frame. */
    draft(account: BatchAccount, size: number): OutboundDraft;
    /** The request for the rows, where `draft` only begins the upload; `header` reads its answer. null: it names no place. */
    send?(account: BatchAccount, size: number, header: (name: string) => string | null): OutboundDraft | null;
    /** The id of the uploaded rows, and whether a batch may name them already; null: the answer has none. */
    read(body: Uint8Array): { readonly id: string; readonly isReady: boolean } | null;
  };
  /** The frame of the rows within the creation. Absent: they are uploaded. */
  readonly frame?: BatchFrame;
  /** `headers`: of the caller. */
  create(
    account: BatchAccount,
    batch: {
      readonly ourId: string;
      readonly endpoint: EndpointId;
      readonly upstreamModel: string;
      readonly path: string;
      readonly uploadId: string;
      readonly headers: Readonly<Record<string, string>>;
    },
  ): OutboundDraft;
  /** The id of the created batch; null: the answer has none. */
  readCreated(body: Uint8Array): string | null;
  poll(account: BatchAccount, upstreamId: string): OutboundDraft;
  readReport(upstreamId: string, body: Uint8Array): BatchReport;
  cancel(account: BatchAccount, upstreamId: string): OutboundDraft;
  list(account: BatchAccount): OutboundDraft;
  readList(body: Uint8Array): readonly ListedBatch[];
  /** The batch that a webhook of the vendor is about; null: something else. Absent: its batches have no webhooks. */
  readHint?(body: Uint8Array): string | null;
  output(account: BatchAccount, path: string): OutboundDraft;
  /** null: it is no row. */
  readLine(line: Uint8Array): BatchLine | null;
}
