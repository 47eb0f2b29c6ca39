/**
 * What a message that is refused has: `head_too_large` (431), a `version` that is not spoken here (505), fields that leave
 * open where its body ends (`framing`), or anything else that is not HTTP (`syntax`); 400 both.
 */
export type MalformedReason = "head_too_large" | "version" | "framing" | "syntax";

/** A message that cannot be read in one way only. It quotes nothing of the message. */
export class MalformedMessage extends Error {
  override readonly name = "MalformedMessage";
  readonly reason: MalformedReason;

  constructor(reason: MalformedReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
