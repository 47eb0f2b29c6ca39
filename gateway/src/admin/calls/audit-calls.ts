import { Failure } from "#core/index.ts";
import type { Handlers } from "./handler.ts";

// biome-ignore lint/suspicious/noEmptyInterface: filled by whoever writes these calls.
export interface AuditCallsHouse {}

/** The calls about the audit log. */
export function auditCalls(_house: AuditCallsHouse): Handlers<"audit.list"> {
  const missing = () => {
    throw new Failure("not_found", "This call is not there yet.");
  };
  return {
    "audit.list": missing,
  };
}
