/** `head_too_large`: 431. `version`: unsupported, 505. `framing`: the end of the body is ambiguous, 400. `syntax`: other errors, 400. */
export type MalformedReason = "head_too_large" | "version" | "framing" | "syntax";

/** An invalid or ambiguous message. The error quotes nothing from it. */
export class MalformedMessage extends Error {
  override readonly name = "MalformedMessage";
  readonly reason: MalformedReason;

  constructor(reason: MalformedReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
