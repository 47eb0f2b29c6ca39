import { createHash } from "node:crypto";
import { isObjectId } from "#core/index.ts";

/**
 * The id under which a continuation token is recorded as an object of its workspace: the token, or a digest of one that is too long for
 * an id. A token names an unfinished answer at the account that issued it.
 */
export function continuationId(token: string): string {
  return isObjectId(token) ? token : `continuation-${createHash("sha256").update(token).digest("hex")}`;
}
