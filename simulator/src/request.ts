/** One request, already read. Header names are lower case. */
export interface SimulatorRequest {
  readonly method: string;
  /** As it was sent: percent-encoding kept, the query left out. */
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty when the body was multipart. */
  readonly body: Uint8Array;
  /** What a multipart body carried. It was read as it came and never held whole. */
  readonly upload?: Upload;
}

export interface Upload {
  readonly bytes: number;
  readonly sha256: string;
  readonly parts: readonly UploadPart[];
  /** Why the body is no multipart/form-data, or null. */
  readonly broken: string | null;
}

/** One part of a multipart body, named as the truth shows it. */
export interface UploadPart {
  readonly name: string;
  readonly filename: string | null;
  readonly content_type: string | null;
  readonly size: number;
  readonly sha256: string;
  /** Of small parts that are no files. */
  readonly value?: string;
}
