/** Why an asset could not be taken in: the error its owner will read, unless another try may help. */
export interface Refusal {
  readonly code:
    | "fetch_failed"
    | "too_large"
    | "unsupported_type"
    | "wrong_type"
    | "bad_dimensions"
    | "bad_duration"
    | "storage_failed";
  readonly message: string;
  /** Not the asset's fault as far as we know. */
  readonly again: boolean;
}

/** For good. */
export function refused(code: Refusal["code"], message: string): Refusal {
  return { code, message, again: false };
}

/** For now. */
export function refusedForNow(code: Refusal["code"], message: string): Refusal {
  return { code, message, again: true };
}

export function isRefusal(value: object): value is Refusal {
  return "again" in value;
}
