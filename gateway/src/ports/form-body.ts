/** A multipart form on its way upstream: the caller's own bytes, with only the model's name replaced. */
export interface FormBody {
  readonly contentType: string;
  /** Bytes of the form for this model. */
  size(upstreamModel: string): number;
  /** The form for this model, read anew for each attempt. */
  open(upstreamModel: string): ReadableStream<Uint8Array>;
  /** What stands between its parts. */
  readonly boundary: string;
  /**
   * The caller's own bytes, for an upstream that takes no forms. Throws Failure unsupported_by_model (to be tried
   * elsewhere) when there are more than `bytesMax`.
   */
  bytes(bytesMax: number): Promise<Uint8Array>;
  /** Lets go of the body. Never throws, and may be called again. */
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
  /** As the form says or, where it does not say, as the first bytes show; null when neither does. */
  readonly mediaType: string | null;
  /** In base64. */
  readonly data: string;
}
