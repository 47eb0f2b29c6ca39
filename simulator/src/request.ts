/** A parsed request. Header names are in lower case. */
export interface SimulatorRequest {
  readonly method: string;
  /** As it was sent: still percent-encoded, without the query. */
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty if the body was multipart. */
  readonly body: Uint8Array;
  /** The content of a multipart body, which is read as it arrives and never held whole. */
  readonly upload?: Upload;
}

export interface Upload {
  readonly bytes: number;
  readonly sha256: string;
  readonly parts: readonly UploadPart[];
  /** Why the body is not valid multipart/form-data, or null. */
  readonly broken: string | null;
}

/** One part of a multipart body, with the field names of the truth records. */
export interface UploadPart {
  readonly name: string;
  readonly filename: string | null;
  readonly content_type: string | null;
  readonly size: number;
  readonly sha256: string;
  /** Only for small parts that are not files. */
  readonly value?: string;
}
