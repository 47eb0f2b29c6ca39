import type { BodyOf, ConsoleKey } from "@sluice/contract";
import { bounds, Failure, isAddressRange } from "#core/index.ts";
import type { KeyChange } from "#ports/index.ts";

type KeyBody = BodyOf<"keys.create"> | BodyOf<"keys.update">;

/** The last moment that a date can say. */
const lastMoment = 8_640_000_000_000_000;

/**
 * What the schema of a key cannot see; throws `invalid_request`. `before` is the key as it is: what it has already may
 * be sent back with the rest, though it could not be given now.
 */
export function checkKeyFields(
  body: KeyBody,
  { now, before }: { readonly now: number; readonly before: Pick<ConsoleKey, "expires_at"> | null },
): void {
  const wrongRange = body.allowed_ips?.findIndex((range) => !isAddressRange(range)) ?? -1;
  if (wrongRange >= 0) {
    throw wrong(`allowed_ips.${wrongRange}`, "must be an IP address or a range such as 10.0.0.0/8");
  }
  const { expires_at: expiresAt } = body;
  if (expiresAt != null && expiresAt !== before?.expires_at) {
    if (expiresAt <= now) throw wrong("expires_at", "must lie in the future");
    if (expiresAt > lastMoment) throw wrong("expires_at", "is later than any date");
  }
  if (Object.keys(body.tags ?? {}).length > bounds.tagsMax) {
    throw wrong("tags", `must be at most ${bounds.tagsMax}`);
  }
}

export function keyChangeOf(body: KeyBody): KeyChange {
  return {
    name: body.name,
    group: body.group,
    models: body.models,
    passThrough: body.pass_through,
    allowedIps: body.allowed_ips,
    expiresAt: body.expires_at,
    limits: body.limits,
    budget: body.budget,
    tags: body.tags,
    capture: body.capture,
    enabled: "enabled" in body ? body.enabled : undefined,
  };
}

function wrong(param: string, why: string): Failure {
  return new Failure("invalid_request", `\`${param}\` ${why}.`, { param });
}
