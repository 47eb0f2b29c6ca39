/** A multipart form on its way upstream: the caller's own bytes, with only the model's name replaced. */
export interface FormBody {
  readonly contentType: string;
  /** How many bytes the form has with the name of this model. */
  size(upstreamModel: string): number;
  /** The form for this model, read anew for each attempt. */
  open(upstreamModel: string): ReadableStream<Uint8Array>;
  /** The boundary between its parts. */
  readonly boundary: string;
  /**
   * The caller's own bytes, for an upstream that takes no forms. Throws Failure unsupported_by_model (to be tried
   * elsewhere) when there are more than `bytesMax`.
   */
  bytes(bytesMax: number): Promise<Uint8Array>;
  /** Releases the body. Never throws, and may be called again. */
  discard(): void;
}

export interface FormContent {
  /** In the order of the form; a name may stand several times. */
  readonly fields: readonly FormField[];
  readonly files: readonly FormFile[];
}

export interface FormField {
  readonly name: string;
  readonly value: string;
}

export interface FormFile {
  readonly name: string;
  readonly filename: string | null;
  /** As the form says. If it does not, as the first bytes show. null: not known. */
  readonly mediaType: string | null;
  /** In base64. */
  readonly data: string;
}
